package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"winnow/head"
	"winnow/internal/atomicfile"
	"winnow/internal/regular"
)

// Errors of reading a head file, for errors.Is.
var (
	ErrNotHead     = errors.New("not a winnow head file")
	ErrHeadVersion = errors.New("head file of another version")
	ErrHeadDamaged = errors.New("head file is damaged: its checksum does not match")
)

const (
	headMagic   = "WINNOWHD"
	headVersion = 1
	headPrefix  = len(headMagic) + 8 // magic, version, length of the header
	maxHeader   = 1 << 20            // bytes
)

// HeadMeta records how a head was trained, so that it is not applied to other features.
type HeadMeta struct {
	ModelSHA256   string `json:"model_sha256"`  // of the backbone file
	Output        string `json:"output"`        // the backbone's feature tensor
	Preprocessing string `json:"preprocessing"` // the backbone's preprocessing in canonical form
	ConfigSHA256  string `json:"config_sha256"` // of the training's settings and data
	Winnow        string `json:"winnow"`        // the version that wrote the file
	Seed          uint64 `json:"seed"`
}

// headHeader is the JSON part of the file.
type headHeader struct {
	Config head.Config  `json:"config"`
	Params []head.Shape `json:"params"`
	Meta   HeadMeta     `json:"meta"`
}

// WriteHead writes h to path atomically. The format is little-endian:
//
//	"WINNOWHD" · uint32 version · uint32 header length · header (JSON) · float32 values of every parameter,
//	row-major, in the header's order · sha256 of all bytes before it
func WriteHead(path string, h *head.Head, meta HeadMeta) error {
	err := atomicfile.Write(path, func(w io.Writer) error { return encodeHead(w, h, meta) })
	if err != nil {
		return fmt.Errorf("models: writing head: %w", err)
	}
	return nil
}

// ReadHead reads a whole file written by [WriteHead] and checks everything in it.
func ReadHead(path string) (*head.Head, HeadMeta, error) {
	data, err := regular.ReadFile(path, regular.Most)
	if err != nil {
		return nil, HeadMeta{}, fmt.Errorf("models: %w", err)
	}
	h, meta, err := decodeHead(data)
	if err != nil {
		return nil, HeadMeta{}, fmt.Errorf("models: %s: %w", path, err)
	}
	return h, meta, nil
}

func encodeHead(w io.Writer, h *head.Head, meta HeadMeta) error {
	header, err := json.Marshal(headHeader{Config: h.Config(), Params: h.Config().Shapes(), Meta: meta})
	if err != nil {
		return err
	}
	if len(header) > maxHeader {
		return fmt.Errorf("header: found %d bytes, expected at most %d", len(header), maxHeader)
	}
	sum := sha256.New()
	all := io.MultiWriter(w, sum)
	prefix := binary.LittleEndian.AppendUint32([]byte(headMagic), headVersion)
	prefix = binary.LittleEndian.AppendUint32(prefix, uint32(len(header)))
	if _, err := all.Write(append(prefix, header...)); err != nil {
		return err
	}
	for _, p := range h.Params() {
		if err := binary.Write(all, binary.LittleEndian, p.Data); err != nil {
			return err
		}
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// checkPrefix distinguishes a file of another kind or version from one that is cut short.
func checkPrefix(b []byte) error {
	if !bytes.HasPrefix(b, []byte(headMagic)) {
		return fmt.Errorf("%w: found %q, expected %q at its start", ErrNotHead, b[:min(len(b), len(headMagic))],
			headMagic)
	}
	if len(b) < headPrefix {
		return fmt.Errorf("%w: found %d bytes, expected at least %d", ErrHeadDamaged, len(b), headPrefix)
	}
	if v := binary.LittleEndian.Uint32(b[len(headMagic):]); v != headVersion {
		return fmt.Errorf("%w: found version %d, expected %d", ErrHeadVersion, v, headVersion)
	}
	return nil
}

// decodeHead decodes a whole file. It checks the checksum before the header, so a flipped bit is reported as damage
// wherever it is, and sizes before it allocates the values.
func decodeHead(data []byte) (*head.Head, HeadMeta, error) {
	if err := checkPrefix(data); err != nil {
		return nil, HeadMeta{}, err
	}
	body := len(data) - sha256.Size
	if body < headPrefix {
		return nil, HeadMeta{}, fmt.Errorf("%w: found %d bytes, expected at least %d", ErrHeadDamaged, len(data),
			headPrefix+sha256.Size)
	}
	if sum := sha256.Sum256(data[:body]); !bytes.Equal(sum[:], data[body:]) {
		return nil, HeadMeta{}, ErrHeadDamaged
	}
	length := int64(binary.LittleEndian.Uint32(data[len(headMagic)+4:]))
	payload := data[headPrefix:body]
	if length > maxHeader || length > int64(len(payload)) {
		return nil, HeadMeta{}, fmt.Errorf("header: found a length of %d bytes, expected at most %d", length,
			min(maxHeader, len(payload)))
	}
	var header headHeader
	if err := json.Unmarshal(payload[:length], &header); err != nil {
		return nil, HeadMeta{}, fmt.Errorf("header: %w", err)
	}
	if err := header.Config.Validate(); err != nil {
		return nil, HeadMeta{}, fmt.Errorf("header: %w", err)
	}
	if !slices.Equal(header.Params, header.Config.Shapes()) {
		return nil, HeadMeta{}, fmt.Errorf("header: found parameters %v, expected %v", header.Params,
			header.Config.Shapes())
	}
	h, err := restoreHead(header, payload[length:])
	return h, header.Meta, err
}

func restoreHead(header headHeader, payload []byte) (*head.Head, error) {
	var total int64
	for _, s := range header.Params {
		total += int64(s.Rows) * int64(s.Cols)
	}
	if total*4 != int64(len(payload)) {
		return nil, fmt.Errorf("found %d bytes of values, expected %d", len(payload), total*4)
	}
	list := make([][]float32, len(header.Params))
	for i, s := range header.Params {
		list[i] = make([]float32, s.Rows*s.Cols)
		for j := range list[i] {
			list[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(payload[4*j:]))
		}
		payload = payload[4*len(list[i]):]
	}
	return head.Restore(header.Config, list)
}
