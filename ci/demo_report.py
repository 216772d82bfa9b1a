"""The tables of the demo: figures of runs, differences of results, counters of operators."""

import itertools
import statistics


def figures(stock, tenon):
    """One row from the same entry of each stock run and each run with Tenon."""
    last, ours = stock[-1], tenon[-1]
    row = {key: last[key] for key in ("name", "dtype", "batch", "threads")}
    row["stock_s"] = statistics.median(run["seconds"] for run in stock)
    row["tenon_s"] = statistics.median(run["seconds"] for run in tenon)
    row["ratio"] = row["stock_s"] / row["tenon_s"]
    row["max_difference"] = max(abs(a - b) for a, b in zip(last["values"], ours["values"]))
    if "tokens" in last:
        row["first_different_token"] = first_difference(last["tokens"], ours["tokens"])
    return row


def first_difference(ours, theirs):
    """The index of the first entry in which two lists differ, or None."""
    for index, (a, b) in enumerate(itertools.zip_longest(ours, theirs)):
        if a != b:
            return index
    return None


def print_output_difference(index):
    print("output: %s" % ("the same line for line" if index is None
                          else "differs from line %d on" % (index + 1)))


def difference(row):
    if row["max_difference"] is None:
        return ""
    if "first_different_token" not in row:
        return "embeddings differ by up to %.2g" % row["max_difference"]
    token = row["first_different_token"]
    tokens = "same tokens" if token is None else "token %d differs first" % (token + 1)
    return "%s; first logits differ by up to %.2g" % (tokens, row["max_difference"])


def seconds(value):
    return "%.2f s" % value if value >= 1 else "%.2f ms" % (value * 1e3)


def print_rows(rows):
    print("\nMedians of the runs; ratio above 1: Tenon is faster.")
    form = "%-10s %-9s %5s %7s %12s %12s %7s  %s"
    print(form % ("program", "dtype", "batch", "threads", "stock", "Tenon", "ratio", "results"))
    for row in rows:
        print(form % (
            row["name"], row["dtype"] or "", row["batch"] or "", row["threads"] or "",
            seconds(row["stock_s"]), seconds(row["tenon_s"]), "%.2f" % row["ratio"],
            difference(row)))


def merge(operators, report):
    """Add the counters of one report (TENON_REPORT) to `operators`, a dict by schema."""
    for entry in report["operators"]:
        known = operators.setdefault(
            entry["schema"], {"hits": 0, "fallbacks": {}, "kernels": [], "state": entry["state"]})
        known["hits"] += entry["hits"]
        for reason, count in entry["fallbacks"].items():
            known["fallbacks"][reason] = known["fallbacks"].get(reason, 0) + count
        known["kernels"] += [k for k in entry["kernels"] if k not in known["kernels"]]


def print_operators(label, operators):
    """Operators that were called, busiest first."""
    used = [(schema, o) for schema, o in operators.items() if o["hits"] or o["fallbacks"]]
    if not used:
        return
    print("\n%s: operators that Tenon serves, in one run" % label)
    form = "  %-44s %8s %8s  %s"
    print(form % ("operator", "hits", "stock", "kernels; reasons for stock"))
    for schema, o in sorted(used, key=lambda item: -item[1]["hits"]):
        reasons = ", ".join("%s %d" % item for item in sorted(o["fallbacks"].items()))
        print(form % (schema, o["hits"], sum(o["fallbacks"].values()),
                      "; ".join(filter(None, (", ".join(o["kernels"]), reasons)))))
    print(flush=True)
