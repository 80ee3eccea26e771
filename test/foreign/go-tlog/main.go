// The log as golang.org/x/mod/sumdb sees it: signed notes, trees and proofs by the implementation of the Go project. Answers one line
// of JSON to each; `refused` says why something is not as it should be.
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type request struct {
	Ask     string   `json:"ask"`
	Key     string   `json:"key"`
	Note    string   `json:"note"`
	Export  string   `json:"export"`
	Text    string   `json:"text"`
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Records []string `json:"records"`
	Proof   []string `json:"proof"`
	Leaf    string   `json:"leaf"`
	Root    string   `json:"root"`
	Older   string   `json:"older"`
	Size    int64    `json:"size"`
	Index   int64    `json:"index"`
}

type answer struct {
	Refused string   `json:"refused,omitempty"`
	Size    int64    `json:"size"`
	Root    string   `json:"root,omitempty"`
	Proof   []string `json:"proof,omitempty"`
	Note    string   `json:"note,omitempty"`
	Key     string   `json:"key,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		given, err := perform(asked)
		if err != nil {
			given = answer{Refused: err.Error()}
		}
		text, err := json.Marshal(given)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}

func perform(asked request) (answer, error) {
	switch asked.Ask {
	case "open":
		size, root, err := openCheckpoint(asked.Note, asked.Key)
		return answer{Size: size, Root: encode(root)}, err
	case "export":
		return verifyExport(asked.Export, asked.Key)
	case "proof":
		return verifyProof(asked.Export, asked.Key)
	case "witness":
		return witness(asked)
	case "sign":
		return sign(asked.Name, asked.Text)
	case "prove-record":
		tree, err := grow(asked.Records)
		if err != nil {
			return answer{}, err
		}
		proof, err := tlog.ProveRecord(asked.Size, asked.Index, tree)
		return answer{Proof: encodeAll(proof)}, err
	case "prove-tree":
		tree, err := grow(asked.Records)
		if err != nil {
			return answer{}, err
		}
		proof, err := tlog.ProveTree(asked.Size, asked.Index, tree)
		return answer{Proof: encodeAll(proof)}, err
	case "check-record":
		proof, root, leaf, err := decodeProof(asked, asked.Leaf)
		if err != nil {
			return answer{}, err
		}
		return answer{}, tlog.CheckRecord(proof, asked.Size, root, asked.Index, leaf)
	case "check-tree":
		proof, root, older, err := decodeProof(asked, asked.Older)
		if err != nil {
			return answer{}, err
		}
		return answer{}, tlog.CheckTree(proof, asked.Size, root, asked.Index, older)
	}
	return answer{}, errors.New("nobody knows " + asked.Ask)
}

// An export of the whole log: docs/protocol.md CHN-30.
func verifyExport(export, key string) (answer, error) {
	lines := strings.Split(export, "\n")
	var head struct {
		Checkpoint string `json:"checkpoint"`
	}
	if err := json.Unmarshal([]byte(lines[0]), &head); err != nil {
		return answer{}, err
	}
	size, signed, err := openCheckpoint(head.Checkpoint, key)
	if err != nil {
		return answer{}, err
	}
	var records []string
	for _, line := range lines[1 : len(lines)-1] {
		var record string
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			return answer{}, err
		}
		records = append(records, record)
	}
	tree, err := grow(records)
	if err != nil {
		return answer{}, err
	}
	if int64(len(records)) != size {
		return answer{}, fmt.Errorf("%d records, and %d were signed", len(records), size)
	}
	root, err := tlog.TreeHash(size, tree)
	if err != nil {
		return answer{}, err
	}
	if root != signed {
		return answer{}, errors.New("the records are not those that were signed")
	}
	return answer{Size: size, Root: encode(root)}, nil
}

// The proof of one entry: c2sp.org/tlog-proof, with the record as its extra data.
func verifyProof(text, key string) (answer, error) {
	head, checkpoint, found := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if !found || len(lines) < 3 || lines[0] != "c2sp.org/tlog-proof@v1" {
		return answer{}, errors.New("no proof")
	}
	extra, hasExtra := strings.CutPrefix(lines[1], "extra ")
	number, hasIndex := strings.CutPrefix(lines[2], "index ")
	if !hasExtra || !hasIndex {
		return answer{}, errors.New("no proof of an entry")
	}
	record, err := base64.StdEncoding.Strict().DecodeString(extra)
	if err != nil {
		return answer{}, err
	}
	index, err := strconv.ParseInt(number, 10, 64)
	if err != nil || strconv.FormatInt(index, 10) != number {
		return answer{}, errors.New("no index")
	}
	proof, err := decodeAll(lines[3:])
	if err != nil {
		return answer{}, err
	}
	size, root, err := openCheckpoint(checkpoint, key)
	if err != nil {
		return answer{}, err
	}
	return answer{Size: size, Root: encode(root)}, tlog.CheckRecord(proof, size, root, index, tlog.RecordHash(record))
}

func openCheckpoint(text, key string) (int64, tlog.Hash, error) {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return 0, tlog.Hash{}, err
	}
	opened, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil {
		return 0, tlog.Hash{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		return 0, tlog.Hash{}, errors.New("no checkpoint of this log")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return 0, tlog.Hash{}, err
	}
	root, err := decode(lines[2])
	return size, root, err
}

// A witness that is asked as c2sp.org/tlog-witness has it: it knows the root that the log had before.
func witness(asked request) (answer, error) {
	head, checkpoint, found := strings.Cut(asked.Text, "\n\n")
	lines := strings.Split(head, "\n")
	number, hasOld := strings.CutPrefix(lines[0], "old ")
	old, err := strconv.ParseInt(number, 10, 64)
	if !found || !hasOld || err != nil || len(lines) > 64 {
		return answer{}, errors.New("no request")
	}
	proof, err := decodeAll(lines[1:])
	if err != nil {
		return answer{}, err
	}
	size, root, err := openCheckpoint(checkpoint, asked.Key)
	if err != nil {
		return answer{}, err
	}
	if old == 0 && len(proof) > 0 {
		return answer{}, errors.New("a proof of nothing")
	}
	if old > 0 {
		older, err := decode(asked.Older)
		if err != nil {
			return answer{}, err
		}
		if err := tlog.CheckTree(proof, size, root, old, older); err != nil {
			return answer{}, err
		}
	}
	signer, key, err := newWitness(asked.Name, asked.Kind)
	if err != nil {
		return answer{}, err
	}
	text := checkpoint[:strings.Index(checkpoint, "\n\n")+1]
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	if err != nil {
		return answer{}, err
	}
	return answer{Size: size, Note: string(signed[len(text)+1:]), Key: key}, nil
}

func newWitness(name, kind string) (note.Signer, string, error) {
	if kind == "ml-dsa-44" {
		private, key, err := cosignature.GenerateMLDSAKey(name)
		if err != nil {
			return nil, "", err
		}
		signer, err := cosignature.NewMLDSASigner(private)
		return signer, key, err
	}
	private, key, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return nil, "", err
	}
	if key, err = cosignature.VKeyToCosignatureV1(key); err != nil {
		return nil, "", err
	}
	signer, err := cosignature.NewSignerForCosignatureV1(private)
	return signer, key, err
}

func sign(name, text string) (answer, error) {
	private, key, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return answer{}, err
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		return answer{}, err
	}
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	return answer{Note: string(signed), Key: key}, err
}

func grow(records []string) (tlog.HashReaderFunc, error) {
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(indexes))
		for at, index := range indexes {
			hashes[at] = stored[index]
		}
		return hashes, nil
	})
	for at, record := range records {
		hashes, err := tlog.StoredHashes(int64(at), []byte(record), reader)
		if err != nil {
			return nil, err
		}
		stored = append(stored, hashes...)
	}
	return reader, nil
}

func encode(hash tlog.Hash) string {
	return base64.StdEncoding.EncodeToString(hash[:])
}

func encodeAll(hashes []tlog.Hash) []string {
	texts := make([]string, len(hashes))
	for at, hash := range hashes {
		texts[at] = encode(hash)
	}
	return texts
}

// The proof, the root that it leads to, and what it is a proof of.
func decodeProof(asked request, of string) (proof []tlog.Hash, root, proven tlog.Hash, err error) {
	if proof, err = decodeAll(asked.Proof); err != nil {
		return
	}
	if root, err = decode(asked.Root); err != nil {
		return
	}
	proven, err = decode(of)
	return
}

func decode(text string) (tlog.Hash, error) {
	return tlog.ParseHash(text)
}

func decodeAll(texts []string) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(texts))
	for at, text := range texts {
		hash, err := decode(text)
		if err != nil {
			return nil, err
		}
		hashes[at] = hash
	}
	return hashes, nil
}
