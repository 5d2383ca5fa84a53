package main

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"winnow/backbone/graph"
	"winnow/internal/atomicfile"
)

// pack makes the files of a bundle in a folder small: without kernels for other devices than sm, if that is not 0, and
// with smaller models.
func pack(dir string, sm uint, stdout io.Writer) error {
	if sm > 0 {
		library := filepath.Join(dir, "libonnxruntime_providers_cuda.so")
		kept, cleared, err := prune(library, uint32(sm))
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: kept %d entries for sm_%d, cleared %d MB\n", library, kept, sm, cleared/1e6)
	}
	models, err := filepath.Glob(filepath.Join(dir, "models", "*.onnx"))
	if err != nil {
		return err
	}
	for _, file := range models {
		if err := slim(file); err != nil {
			return err
		}
	}
	return nil
}

// slim cuts a model behind its vector and rounds its weights to bfloat16's precision, which halves the compressed size;
// neither parity nor speed depend on their digits. The model of the runs keeps its weights, since its results count.
func slim(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(file), ".onnx")
	m, err := graph.ReadNamed(name, data)
	if err != nil {
		return err
	}
	tensor, err := graph.FeatureTensor(m)
	if err != nil {
		return fmt.Errorf("gpu: %s: %w", name, err)
	}
	cut, _, _, err := graph.Vector(m, tensor.Tensor)
	if err != nil {
		return fmt.Errorf("gpu: %s: %w", name, err)
	}
	if name == studyModel {
		return nil
	}
	for i, t := range cut.Graph.Initializers {
		if t.Type != graph.Float32 {
			continue
		}
		values, err := t.Float32s()
		if err != nil {
			return fmt.Errorf("gpu: %s: %w", name, err)
		}
		for j, v := range values {
			values[j] = math.Float32frombits((math.Float32bits(v) + 1<<15) &^ (1<<16 - 1))
		}
		cut.Graph.Initializers[i] = graph.NewTensor(t.Name, values, t.Dims...)
	}
	return atomicfile.WriteBytes(file, cut.Marshal())
}

// The headers of CUDA's compiled kernels in a library: a container holds entries, one an architecture.
const (
	fatMagic   = 0xBA55ED50
	fatSection = ".nv_fatbin"
	fatArch    = 28 // offset of the architecture (90: sm_90) in an entry's header
)

// prune writes zeros over the kernels of all architectures but sm, which compress to nothing. The headers stay: the
// driver looks for its own architecture in them and never reads the other entries' kernels. It returns the number of
// entries kept and the bytes cleared.
func prune(path string, sm uint32) (kept int, cleared int64, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return 0, 0, fmt.Errorf("gpu: prune: %w", err)
	}
	defer f.Close()
	section := f.Section(fatSection)
	if section == nil {
		return 0, 0, fmt.Errorf("gpu: prune: %s: found no section %s, expected a library with kernels for CUDA",
			path, fatSection)
	}
	data, err := section.Data()
	if err != nil {
		return 0, 0, fmt.Errorf("gpu: prune: %s: %w", path, err)
	}
	if kept, cleared, err = pruneKernels(data, sm); err != nil {
		return 0, 0, fmt.Errorf("gpu: prune: %s: %w", path, err)
	}
	out, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return 0, 0, fmt.Errorf("gpu: prune: %w", err)
	}
	defer out.Close()
	if _, err := out.WriteAt(data, int64(section.Offset)); err != nil {
		return 0, 0, fmt.Errorf("gpu: prune: %w", err)
	}
	return kept, cleared, out.Close()
}

// pruneKernels clears the kernels in a section's bytes.
func pruneKernels(data []byte, sm uint32) (kept int, cleared int64, err error) {
	le, size := binary.LittleEndian, uint64(len(data))
	for at := uint64(0); at+16 <= size; {
		if le.Uint32(data[at:]) != fatMagic { // padding between containers
			at += 8
			continue
		}
		entry := at + uint64(le.Uint16(data[at+6:]))
		end := entry + le.Uint64(data[at+8:])
		if end > size || end < entry {
			return 0, 0, fmt.Errorf("container at %d: found its end at %d of %d bytes", at, end, size)
		}
		held := 0
		var others [][]byte
		for entry < end {
			if entry+fatArch+4 > end {
				return 0, 0, fmt.Errorf("entry at %d: found %d bytes, expected a header", entry, end-entry)
			}
			body := entry + uint64(le.Uint32(data[entry+4:]))
			next := body + le.Uint64(data[entry+8:])
			if body <= entry || next < body || next > end {
				return 0, 0, fmt.Errorf("entry at %d: found its end at %d, expected at most %d", entry, next, end)
			}
			if le.Uint32(data[entry+fatArch:]) == sm {
				held++
			} else {
				others = append(others, data[body:next])
			}
			entry = next
		}
		if held > 0 { // kernels that exist for other architectures alone stay: they run on newer devices too
			for _, other := range others {
				clear(other)
				cleared += int64(len(other))
			}
		}
		kept += held
		at = end
	}
	if kept == 0 {
		return 0, 0, fmt.Errorf("found no kernels for sm_%d", sm)
	}
	return kept, cleared, nil
}
