// The kernels compiled for the instructions that every processor of the architecture has.

#define LANES 4
#define SET winnow_plain
#include "kernels_set.h"
