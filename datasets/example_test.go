package datasets_test

import (
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strings"

	"winnow/datasets"
)

// A manifest lists images, their labels and, optionally, their true labels.
func ExampleReadManifest() {
	manifest := "path,label,split\na.jpg,heron,train\nb.jpg,stork,train\nc.jpg,heron,test\n"
	d, err := datasets.ReadManifest(strings.NewReader(manifest), "birds.csv", datasets.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Classes, d.Labels(), d.Select(datasets.Test))
	_, err = datasets.ReadManifest(strings.NewReader("path,label\na.jpg\n"), "birds.csv", datasets.ReadOptions{})
	fmt.Println(err)
	// Output:
	// [heron stork] [0 1 0] [2]
	// datasets: birds.csv: record on line 2: wrong number of fields
}

// Noise changes given labels; the dataset keeps the true labels for measurements.
func ExampleDataset_Corrupt() {
	manifest := "path,label\n1.jpg,heron\n2.jpg,heron\n3.jpg,stork\n4.jpg,stork\n"
	d, err := datasets.ReadManifest(strings.NewReader(manifest), "birds.csv", datasets.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	noisy, err := d.Corrupt(datasets.Train, datasets.Symmetric{Rate: 0.25, Count: datasets.Exact},
		rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(noisy.Noise(datasets.Train).Corrupted, "label is wrong")
	if err := datasets.WriteCSV(os.Stdout, noisy); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 label is wrong
	// path,label,split,true_label
	// 1.jpg,heron,train,heron
	// 2.jpg,heron,train,heron
	// 3.jpg,heron,train,stork
	// 4.jpg,stork,train,stork
}
