package ortlib

import (
	"encoding/binary"
	"path"
	"regexp"
)

// platform is an operating system and a processor, as Go names them. The first bytes of a library determine both.
type platform struct{ OS, Arch string }

func (p platform) String() string { return p.OS + "/" + p.Arch }

// headSize is the number of bytes needed to recognise the platform of a file.
const headSize = 64

// platformOf reads the platform from the first bytes of a 64-bit shared library (ELF or Mach-O).
func platformOf(head []byte) (platform, bool) {
	switch {
	case len(head) >= 20 && string(head[:4]) == "\x7fELF" && head[4] == 2 && head[5] == 1:
		return findPlatform("linux", map[uint16]string{62: "amd64",
			183: "arm64"}[binary.LittleEndian.Uint16(head[18:])])
	case len(head) >= 8 && binary.LittleEndian.Uint32(head) == 0xfeedfacf:
		processors := map[uint32]string{0x01000007: "amd64", 0x0100000c: "arm64"}
		return findPlatform("darwin", processors[binary.LittleEndian.Uint32(head[4:])])
	}
	return platform{}, false
}

func findPlatform(goos, arch string) (platform, bool) { return platform{goos, arch}, arch != "" }

// The files of the CUDA provider for linux/amd64.
const (
	providerShared = "libonnxruntime_providers_shared.so"
	providerCUDA   = "libonnxruntime_providers_cuda.so"
)

// libraryName matches the real files of the main library, such as libonnxruntime.so.1.29.0, but no provider's files.
var libraryName = map[string]*regexp.Regexp{
	"linux":  regexp.MustCompile(`^libonnxruntime\.so(\.\d+)*$`),
	"darwin": regexp.MustCompile(`^libonnxruntime(\.\d+)*\.dylib$`),
}

// nameInstalled returns the name under which a file of an archive is installed, or "" if the file is not needed.
func (p platform) nameInstalled(member string) string {
	base := path.Base(member)
	if re := libraryName[p.OS]; re != nil && re.MatchString(base) {
		return FileNames(p.OS)[0]
	}
	if base == providerShared || base == providerCUDA {
		return base
	}
	return ""
}
