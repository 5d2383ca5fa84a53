package budget

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Available returns how many bytes a program may still allocate: the memory that the system has left without swapping
// (MemAvailable) or, if smaller, the memory that the container has left.
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
	const group = "/sys/fs/cgroup/" // in a container, the root is its own group
	limit, limited := wholeNumber(os.ReadFile, group+"memory.max")
	used, counted := wholeNumber(os.ReadFile, group+"memory.current")
	if limited && counted {
		stat, _ := os.ReadFile(group + "memory.stat")
		cached, _ := memoryField(stat, "inactive_file") // page cache that can be dropped
		left = min(left, limit-used+cached)
	}
	return max(left, 0), true
}

// wholeNumber reads a file that holds one number. For "max", which means no limit, it returns false.
func wholeNumber(read func(string) ([]byte, error), name string) (int64, bool) {
	data, err := read(name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64)
	return n, err == nil
}

// memoryField returns the number that follows a name at the start of a line.
func memoryField(data []byte, name string) (int64, bool) {
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// Peak returns the largest memory that this process has used, in bytes.
func Peak() int64 {
	data, _ := os.ReadFile("/proc/self/status") // 0 if the file is missing
	kilobytes, _ := memoryField(data, "VmHWM:")
	return kilobytes * 1024
}
