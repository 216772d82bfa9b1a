// A program without torch: what a preloaded shim must not disturb.
#include <stdio.h>

int main(int argc, char** argv) {
  printf("%d %s\n", argc, argc > 1 ? argv[1] : "");
  return 7;
}
