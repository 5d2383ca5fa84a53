package ortlib

import (
	"encoding/binary"
	"path"
	"regexp"
)

// platform is an operating system and a processor, by Go's names. The head of a library's file tells both.
type platform struct{ OS, Arch string }

func (p platform) String() string { return p.OS + "/" + p.Arch }

// headSize is enough of a file to tell its platform.
const headSize = 64

// platformOf reads the platform from the head of a 64-bit shared library: ELF or Mach-O.
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

// The CUDA provider's files, for linux/amd64.
const (
	providerShared = "libonnxruntime_providers_shared.so"
	providerCUDA   = "libonnxruntime_providers_cuda.so"
)

// libraryName matches the main library's real files, such as libonnxruntime.so.1.29.0, but never the providers.
var libraryName = map[string]*regexp.Regexp{
	"linux":  regexp.MustCompile(`^libonnxruntime\.so(\.\d+)*$`),
	"darwin": regexp.MustCompile(`^libonnxruntime(\.\d+)*\.dylib$`),
}

// nameInstalled returns the name under which an archive's file is installed, or "" if it is not wanted.
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
