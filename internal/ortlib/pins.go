package ortlib

// npmPackage is an npm package that contains libraries, with the sha256 of its tarball.
type npmPackage struct{ Name, Version, SHA256 string }

// nameTarball returns the file name of the tarball written by `npm pack`.
func (p npmPackage) nameTarball() string { return p.Name + "-" + p.Version + ".tgz" }

// mainPackage is Microsoft's package with the library for five platforms (107 MiB).
var mainPackage = npmPackage{
	"onnxruntime-node", Version,
	"cfdfb45ec4044b1fdca43e5d2e180fb6817e649ff8ad1e0dfc90e18e51b67037",
}

// cudaPackage contains the CUDA 13 provider of the same version for linux/amd64 (171 MiB).
var cudaPackage = npmPackage{
	"com.github.asus4.onnxruntime.linux-x64-gpu", "0.4.9",
	"2b459e0c17f340c92970c10ed86de4f37a3009f93c14053e6ad4334cbb6be412",
}
