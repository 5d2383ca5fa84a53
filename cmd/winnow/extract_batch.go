package main

import (
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/config"
)

// autoBatch is --batch where memory is to decide.
const autoBatch = "auto"

// extractBatch is how many images go through a network that is not trained at once, unless the user says otherwise or
// memory is short. On a CPU larger batches bring nothing: MobileNetV2, SqueezeNet and GoogLeNet take the same processor
// time an image, within a tenth, at 8, 32 and 128, and four times the memory at 128.
const extractBatch = 32

// gpuBatch is the most that auto takes on a GPU, which small batches leave idle.
const gpuBatch = 256

// memoryShare is the part of the memory at hand that auto gives to a batch: 1/memoryShare. The rest is for the weights,
// others, and the runtime, which took 1.1 (MobileNetV2), 1.2 (SqueezeNet) and 2.3 times (GoogLeNet) what is counted.
const memoryShare = 4

// imagesARun reads --batch: 0 stands for auto.
func imagesARun(text string) (int, error) {
	if text == autoBatch {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, misused("--batch: found %q, expected a number of at least 1, or auto", text)
	}
	return n, nil
}

// shardBatch is the batch of a shard: machines with different memory must agree on it, so auto is the usual one.
func shardBatch(batch int) int {
	if batch == 0 {
		return extractBatch
	}
	return batch
}

// settleBatch turns auto into a number, and says which. A store that was begun goes on as it began.
func (e *extraction) settleBatch(c *cli.Context, rt *ort.Runtime) {
	if e.cfg.Batch > 0 {
		return
	}
	if begun, ok := features.BegunBatch(e.out); ok && !e.overwrite {
		e.cfg.Batch = begun
		note(c, "batch auto: %d images, as the store was begun", begun)
		return
	}
	memory, known := availableMemory()
	most, where := extractBatch, "of memory at hand"
	if rt.Device().CUDA {
		gpu := c.String("gpu-memory")
		most, where = gpuBatch, "of --gpu-memory"
		memory, _ = parseSize(gpu) // openRuntime has checked it
		known = gpu != ""
	}
	var why string
	e.cfg.Batch, why = e.batchFor(memory, known, most, where)
	note(c, "batch auto: %d images a run, %s", e.cfg.Batch, why)
}

// batchFor is the batch that fits into its share of the memory, and why it is that.
func (e *extraction) batchFor(memory int64, known bool, most int, where string) (int, string) {
	if fixed := e.cut.Batch; fixed > 0 {
		return extractBatch, fmt.Sprintf("of which the model takes %d at a time", fixed)
	}
	if !known {
		return extractBatch, "as usual: how much memory there is does not say itself (name --gpu-memory, or --batch)"
	}
	activations, err := e.cut.Activations(e.cfg.Preprocessing)
	if err != nil {
		return extractBatch, fmt.Sprintf("as usual: what one takes is not known (%v)", err)
	}
	n := e.cfg.BatchWithin(memory/memoryShare, activations, most)
	return n, fmt.Sprintf("about %s; there are %s %s", config.Bytes(e.cfg.BatchBytes(n, activations)).Approx(), config.Bytes(memory).Approx(), where)
}
