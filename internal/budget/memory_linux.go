package budget

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
)

// Available returns how many bytes a program may still allocate: what the system has left without swapping
// (MemAvailable), or, if less, what the process's control group has left.
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
	groups, _ := os.ReadFile("/proc/self/cgroup") // without one there is no limit
	for line := range strings.Lines(string(groups)) {
		if room, ok := groupRoom(os.ReadFile, strings.TrimSpace(line)); ok {
			left = min(left, room)
		}
	}
	return max(left, 0), true
}

// groupRoom returns the memory that a control group has left: its limit less what is used; cached files count as free.
// line is the group's line of /proc/self/cgroup. A container sees its own group as the root.
func groupRoom(read func(string) ([]byte, error), line string) (int64, bool) {
	_, rest, _ := strings.Cut(line, ":")
	controllers, group, ok := strings.Cut(rest, ":")
	root, limitFile, usedFile, cached := "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
	switch {
	case !ok, controllers != "" && controllers != "memory":
		return 0, false
	case controllers == "memory": // the first version
		root, limitFile = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		usedFile, cached = "memory.usage_in_bytes", "total_inactive_file"
	}
	for _, folder := range []string{path.Join(root, group), root} {
		limit, ok1 := wholeNumber(read, path.Join(folder, limitFile))
		used, ok2 := wholeNumber(read, path.Join(folder, usedFile))
		if !ok1 || !ok2 {
			continue
		}
		stat, _ := read(path.Join(folder, "memory.stat"))
		forgettable, _ := memoryField(stat, cached)
		return limit - used + forgettable, true
	}
	return 0, false
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
