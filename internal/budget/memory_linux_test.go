package budget

import (
	"io/fs"
	"testing"
)

func TestAvailableMemory(t *testing.T) {
	if n, ok := Available(); !ok || n < 1<<20 || n > 1<<50 {
		t.Errorf("%d bytes at hand, %v", n, ok)
	}
}

func TestGroupRoom(t *testing.T) {
	files := map[string]string{
		"/sys/fs/cgroup/a/b/memory.max":                   "1000\n",
		"/sys/fs/cgroup/a/b/memory.current":               "700\n",
		"/sys/fs/cgroup/a/b/memory.stat":                  "anon 500\ninactive_file 150\n",
		"/sys/fs/cgroup/free/memory.max":                  "max\n",
		"/sys/fs/cgroup/free/memory.current":              "700\n",
		"/sys/fs/cgroup/memory/memory.limit_in_bytes":     "5000",
		"/sys/fs/cgroup/memory/memory.usage_in_bytes":     "6000",
		"/sys/fs/cgroup/memory/old/memory.limit_in_bytes": "2000",
		"/sys/fs/cgroup/memory/old/memory.usage_in_bytes": "500",
		"/sys/fs/cgroup/memory/old/memory.stat":           "inactive_file 7\ntotal_inactive_file 100\n",
		"/sys/fs/cgroup/memory/bad/memory.limit_in_bytes": "many",
		"/sys/fs/cgroup/memory/bad/memory.usage_in_bytes": "1",
		"/sys/fs/cgroup/memory/ignored/memory.max":        "3",
		"/sys/fs/cgroup/memory/ignored/memory.current":    "2",
	}
	read := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	for line, want := range map[string]int64{
		"0::/a/b": 450, "0::/free": 0, "4:memory:/old": 1600, "4:memory:/elsewhere": -1000, "4:memory:/bad": -1000,
		"3:cpuset:/": 0, "": 0, "0::": 0, "nonsense": 0,
	} {
		got, ok := groupRoom(read, line)
		if got != want || ok != (want != 0) {
			t.Errorf("%q: %d, %v; expected %d", line, got, ok, want)
		}
	}
}
