package budget

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Available returns how many bytes a program may still allocate: what the system has left without swapping
// (MemAvailable), or, if less, what the container has left.
func Available() (int64, bool) {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	kilobytes, ok := memoryField(data, "MemAvailable:")
	if !ok {
		return 0, false
	}
	left := kilobytes * 1024
	const group = "/sys/fs/cgroup/" // a container sees its own group as the root
	limit, limited := wholeNumber(os.ReadFile, group+"memory.max")
	used, counted := wholeNumber(os.ReadFile, group+"memory.current")
	if limited && counted {
		stat, _ := os.ReadFile(group + "memory.stat")
		cached, _ := memoryField(stat, "inactive_file") // files that can be dropped
		left = min(left, limit-used+cached)
	}
	return max(left, 0), true
}

// wholeNumber reads a file that holds a number. "max", no limit, is not a number.
func wholeNumber(read func(string) ([]byte, error), name string) (int64, bool) {
	data, err := read(name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64)
	return n, err == nil
}

// memoryField returns the number after a name at the beginning of a line.
func memoryField(data []byte, name string) (int64, bool) {
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// Peak returns the largest memory that this process has held.
func Peak() int64 {
	data, _ := os.ReadFile("/proc/self/status") // without it: 0
	kilobytes, _ := memoryField(data, "VmHWM:")
	return kilobytes * 1024
}
