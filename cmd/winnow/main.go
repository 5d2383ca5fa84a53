// Command winnow finds label errors in image datasets, and trains image embeddings on noisy labels.
package main

import (
	"os"

	"winnow/cmd/winnow/program"
)

func main() { os.Exit(program.Main(os.Args)) }
