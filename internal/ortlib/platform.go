package ortlib

import (
	"encoding/binary"
	"path"
	"regexp"
)

// platform is an operating system and a processor, by Go's names. The head of a library's file says both.
type platform struct{ OS, Arch string }

func (p platform) String() string { return p.OS + "/" + p.Arch }

// headSize is enough of a file to tell its platform; a Windows library points to the place within its head.
const headSize = 4096

// platformOf reads the platform from the head of a shared library: ELF, Mach-O or PE, 64 bits.
func platformOf(head []byte) (platform, bool) {
	switch {
	case len(head) >= 20 && string(head[:4]) == "\x7fELF" && head[4] == 2 && head[5] == 1:
		return named("linux", map[uint16]string{62: "amd64", 183: "arm64"}[binary.LittleEndian.Uint16(head[18:])])
	case len(head) >= 8 && binary.LittleEndian.Uint32(head) == 0xfeedfacf:
		return named("darwin", map[uint32]string{0x01000007: "amd64", 0x0100000c: "arm64"}[binary.LittleEndian.Uint32(head[4:])])
	case len(head) >= 64 && string(head[:2]) == "MZ":
		at := binary.LittleEndian.Uint32(head[60:])
		if at > headSize || int(at)+6 > len(head) || string(head[at:at+4]) != "PE\x00\x00" {
			return platform{}, false
		}
		return named("windows", map[uint16]string{0x8664: "amd64", 0xaa64: "arm64"}[binary.LittleEndian.Uint16(head[at+4:])])
	}
	return platform{}, false
}

// whole reports whether a library of this size can be complete: an ELF file names the place of its last
// table. Truncated files of other formats are found by their archives' sums or when they are loaded.
func whole(head []byte, size int64) bool {
	if len(head) < 64 || string(head[:4]) != "\x7fELF" {
		return true
	}
	offset := binary.LittleEndian.Uint64(head[0x28:])
	table := uint64(binary.LittleEndian.Uint16(head[0x3a:])) * uint64(binary.LittleEndian.Uint16(head[0x3c:]))
	return offset <= uint64(size) && table <= uint64(size)-offset
}

func named(goos, arch string) (platform, bool) { return platform{goos, arch}, arch != "" }

// The CUDA provider's files, for linux/amd64.
const (
	providerShared = "libonnxruntime_providers_shared.so"
	providerCUDA   = "libonnxruntime_providers_cuda.so"
)

// libraryName fits the main library's real files: libonnxruntime.so.1.29.0 too, never the providers.
var libraryName = map[string]*regexp.Regexp{
	"linux":   regexp.MustCompile(`^libonnxruntime\.so(\.\d+)*$`),
	"darwin":  regexp.MustCompile(`^libonnxruntime(\.\d+)*\.dylib$`),
	"windows": regexp.MustCompile(`^onnxruntime\.dll$`),
}

// target returns the name under which a file of an archive is installed, or "" for a file that is not wanted.
func (p platform) target(member string) string {
	base := path.Base(member)
	if re := libraryName[p.OS]; re != nil && re.MatchString(base) {
		return FileNames(p.OS)[0]
	}
	if base == providerShared || base == providerCUDA {
		return base
	}
	return ""
}
