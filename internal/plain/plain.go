// Package plain puts errors of the standard library into a user's words: "statat a/b: path escapes from parent" becomes
// "a/b: leads out of its folder, by .. or a link". The door uses it on what it prints. Rooms return errors as they are,
// and use it only for reasons that they record as text: why an image is left out, why a part is torn.
package plain

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"

	"winnow/internal/jsontext"
)

// Text returns the text of an error, with the words of the standard library in it replaced. Texts that the rooms wrote
// stay as they are.
func Text(err error) string {
	text := err.Error()
	each(err, func(e error) bool {
		words := of(e)
		if words == "" {
			return true
		}
		// the cause ends the text: what is before it may quote a name that reads the same
		old := e.Error()
		at := strings.LastIndex(text, old)
		if at < 0 {
			return true // a room wrote the text of a cause alone
		}
		before := text[:at]
		if path, _, ok := strings.Cut(words, ": "); ok { // the room has named the file
			before = strings.TrimSuffix(before, path+": ")
		}
		text = before + words + text[at+len(old):]
		return false
	})
	return text
}

// each visits an error and its causes, unless visit returns false for it.
func each(err error, visit func(error) bool) {
	if err == nil || !visit(err) {
		return
	}
	switch e := err.(type) { // the chain itself, one by one
	case interface{ Unwrap() error }:
		each(e.Unwrap(), visit)
	case interface{ Unwrap() []error }:
		for _, e := range e.Unwrap() {
			each(e, visit)
		}
	}
}

// of returns the words for an error of the standard library, or "".
func of(err error) string {
	switch e := err.(type) { // the error itself: its causes are visited
	case *fs.PathError:
		return about(doing[e.Op], e.Path, Text(e.Err))
	case *os.LinkError:
		return about(doing["write"], e.New, Text(e.Err))
	case *os.SyscallError:
		return Text(e.Err)
	case *json.SyntaxError, *json.UnmarshalTypeError:
		return jsontext.Fault(err).Error()
	case *strconv.NumError:
		if errors.Is(e.Err, strconv.ErrRange) {
			return fmt.Sprintf("found %.40q, expected a number of smaller size", e.Num)
		}
		return fmt.Sprintf("found %.40q, expected a %s", e.Num, number(e.Func))
	case *csv.ParseError:
		return fmt.Sprintf("line %d: %s", e.StartLine, Text(e.Err))
	case flate.CorruptInputError:
		return "is damaged: its compressed bytes cannot be unpacked"
	case syscall.Errno:
		return causes[e]
	}
	if reflect.TypeOf(err).Kind() == reflect.Pointer { // others may not be comparable
		if words := causes[err]; words != "" {
			return words
		}
	}
	text := err.Error() // errors without a type of their own
	if key, ok := strings.CutPrefix(text, "json: unknown field "); ok {
		return "found the key " + key + ", which is unknown here"
	}
	if _, ok := strings.CutPrefix(text, "sql: Scan error"); ok {
		_, column, _ := strings.Cut(text, `name "`)
		column, _, _ = strings.Cut(column, `"`)
		return fmt.Sprintf("column %q holds another kind of value than winnow writes: use a complete copy", column)
	}
	if text == "path escapes from parent" {
		return "leads out of its folder, by .. or a link"
	}
	return ""
}

// causes are errors without details.
var causes = map[error]string{
	syscall.EISDIR:      "is a folder, expected a file",
	syscall.EEXIST:      "something else has this name already",
	syscall.EACCES:      "permission denied",
	syscall.ENOTDIR:     "a part of the path is a file, expected a folder",
	fs.ErrNotExist:      "no such file or directory",
	fs.ErrExist:         "it exists already",
	fs.ErrClosed:        "it was closed meanwhile",
	bufio.ErrTooLong:    "a line is too long: is its end missing?",
	csv.ErrFieldCount:   "found another number of values than in the first line",
	csv.ErrQuote:        "found a quote that does not end its value",
	csv.ErrBareQuote:    "found a quote inside a value without quotes around it",
	zip.ErrFormat:       "is no .zip file, or is cut short: copy or fetch it again",
	zip.ErrAlgorithm:    "is packed in a way that cannot be read, expected deflate or none",
	zip.ErrChecksum:     "is damaged: its checksum does not match",
	gzip.ErrHeader:      "is not gzip, or is damaged",
	gzip.ErrChecksum:    "is damaged: its checksum does not match",
	io.ErrUnexpectedEOF: "ends early: copy or make it again",
	io.EOF:              "ends early: copy or make it again",
}

// doing are the words for what failed, where it was not reading.
var doing = map[string]string{"write": "write ", "mkdir": "make the folder ", "remove": "remove ",
	"unlinkat": "remove "}

// about puts a file's name in front, if there is one.
func about(doing, path, words string) string {
	if path == "" {
		return "the name of a file is empty"
	}
	return doing + path + ": " + words
}

// number names what a function of strconv reads.
func number(by string) string {
	switch by {
	case "ParseFloat":
		return "number"
	case "ParseUint":
		return "whole number from 0"
	case "ParseBool":
		return "truth value, true or false"
	}
	return "whole number"
}
