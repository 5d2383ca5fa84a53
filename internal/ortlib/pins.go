package ortlib

// npmPackage is a package of the npm registry that has libraries, with its tarball's sha256.
type npmPackage struct{ Name, Version, SHA256 string }

// nameTarball returns the file name that `npm pack` uses.
func (p npmPackage) nameTarball() string { return p.Name + "-" + p.Version + ".tgz" }

// mainPackage is Microsoft's own package, with the library for five platforms (107 MiB).
var mainPackage = npmPackage{
	"onnxruntime-node", Version,
	"cfdfb45ec4044b1fdca43e5d2e180fb6817e649ff8ad1e0dfc90e18e51b67037",
}

// cudaPackage holds the CUDA 13 provider of the same version for linux/amd64 (171 MiB).
var cudaPackage = npmPackage{
	"com.github.asus4.onnxruntime.linux-x64-gpu", "0.4.9",
	"2b459e0c17f340c92970c10ed86de4f37a3009f93c14053e6ad4334cbb6be412",
}

// knownFiles are the sha256 sums of the libraries in those packages. A library from elsewhere is accepted with
// a note; a package with a pinned name but other bytes is refused.
var knownFiles = map[string]string{
	"89688f5cf51c7e31befbb7b9101bc027799009b18d1baa9a5b1146a72e69538d": "linux/amd64",
	"a27d21126db312aa8f02f3d5eaebe466e991f51f469882e6d0407d5a8b64afda": "linux/arm64",
	"3e4c63909e9fc6648c93c68741c1ccf1e3d89218dd1d6a7d4f3d629ffc7f9918": "darwin/arm64",
	"5e289b5494cc338d62806f2d24c24aa7cc09a00bbab0404d9169487a45e0053a": "windows/amd64",
	"020f2f84f8029f2fa4b4c1443f8b1e0a659dc6cbed4a105ff908ff9a24d46306": "windows/arm64",
	"56cf3254b118ad837ccc4ed8f6d1b23504bbf7ef91b34cbc0b289cb7f10b3037": "linux/amd64 CUDA provider",
	"c6a12593396095f5670160e284c35d1700b7708cf3037b7042e2a5200ccae772": "linux/amd64 CUDA provider",
}
