package term

import "runtime/debug"

// release is winnow's version; it moves with CHANGELOG.md.
const release = "0.1.0-dev"

// built is the version that `make dist` links in, from git's tags; "" in any other build.
var built string

// Version is what `make dist` linked in, else the release and, where the build knows it, the commit.
func Version() string {
	if built != "" {
		return built
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return release + "+" + s.Value[:12]
			}
		}
	}
	return release
}
