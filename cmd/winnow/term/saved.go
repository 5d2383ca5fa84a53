package term

import (
	"slices"
	"strings"
	"time"
)

// Patience is how long a command may take to end after the first signal, unless it holds work that would be lost. A
// system call, such as a read from a server that does not answer, can take longer than users wait. Files are written
// next to their final place, and stores continue after their last rows on disk, so ending the process loses nothing.
const Patience = 1500 * time.Millisecond

// describeSaved says what an interrupted command leaves behind, if it can be resumed. args begin with its name.
func describeSaved(args []string) string {
	flagged := func(flag string) bool {
		return slices.ContainsFunc(args, func(a string) bool { // one dash is enough
			name, is := strings.CutPrefix(a, "-")
			return is && strings.HasPrefix(strings.TrimPrefix(name, "-"), flag)
		})
	}
	if args[0] == "export" && flagged("to") {
		return "; the points so far are in the collection: the same command continues"
	}
	switch args[0] {
	case "train":
		return "; the work so far is saved: --resume continues it"
	case "audit":
		if slices.ContainsFunc([]string{"labels", "manifest", "features", "probs"}, flagged) { // no images are read
			return ""
		}
		return "; the features made so far are kept: the same command continues with them"
	case "extract", "reproduce", "sweep":
		return "; the work so far is saved: the same command continues it"
	case "models":
		if slices.Contains(args, "get") {
			return "; the download so far is kept: the same command continues it"
		}
	case "index":
		return "; the images so far are in the index: --add continues it"
	}
	return ""
}
