// Command winnow trains image embeddings on labels that cannot be trusted, and lists the wrong labels.
package main

import (
	"os"

	"winnow/cmd/winnow/program"
)

func main() { os.Exit(program.Main(os.Args)) }
