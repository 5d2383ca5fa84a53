package backbone

// Photograph is the benchmarks' image, for tests in other packages.
var Photograph = photograph
