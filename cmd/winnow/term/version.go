package term

import "runtime/debug"

// release is the latest version in CHANGELOG.md.
const release = "0.1.0-dev"

// built is the version from git's tags that "make dist" sets at link time; "" in other builds.
var built string

// Version returns the version set by "make dist" or, in other builds, the release and the commit if known.
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
