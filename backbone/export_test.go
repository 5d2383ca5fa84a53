package backbone

// Photograph is the image of the benchmarks, for those outside the package.
var Photograph = photograph
