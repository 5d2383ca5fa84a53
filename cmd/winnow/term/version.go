package term

import "runtime/debug"

// release is winnow's version, as in CHANGELOG.md.
const release = "0.1.0-dev"

// built is the version that `make dist` links in from git's tags; "" in other builds.
var built string

// Version returns the version that `make dist` linked in or, in other builds, the release and the commit if known.
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
