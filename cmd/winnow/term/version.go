package term

import "runtime/debug"

// release is winnow's version; it moves with CHANGELOG.md.
const release = "0.1.0-dev"

// Version is the release and, where the build knows it, the commit.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return release + "+" + s.Value[:12]
			}
		}
	}
	return release
}
