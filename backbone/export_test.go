package backbone

// Photograph is the picture of the benchmarks, for those outside the package.
var Photograph = photograph
