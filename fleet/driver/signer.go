package main

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	mathrand "math/rand"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Signer signs as the CA does, by its key: for agents that are written into the vault instead of enrolled, and for the
// gate before the CA.
type Signer struct {
	intermediate *x509.Certificate
	pair         tls.Certificate
}

// MadeAgent is a line of the file from which fleet/insert-agents.ts fills the vault.
type MadeAgent struct {
	Hostname  string `json:"hostname"`
	Serial    string `json:"serial"`
	Sha256    string `json:"sha256"`
	NotBefore int64  `json:"not_before_ms"`
	NotAfter  int64  `json:"not_after_ms"`
	ChainPEM  string `json:"chain_pem"`
}

const certificateLife = 24 * time.Hour

func newSigner(directory string) (*Signer, error) {
	pair, err := tls.LoadX509KeyPair(
		filepath.Join(directory, "intermediate.crt"), filepath.Join(directory, "intermediate.key"))
	if err != nil {
		return nil, err
	}
	intermediate, err := x509.ParseCertificate(pair.Certificate[0])
	return &Signer{intermediate, pair}, err
}

func (s *Signer) sign(template *x509.Certificate, publicKey any) ([]byte, error) {
	serial := make([]byte, 16)
	if _, err := rand.Read(serial); err != nil {
		return nil, err
	}
	// So that it has as many digits as any other, and is positive.
	serial[0] = serial[0]&0x3f | 0x40
	template.SerialNumber = new(big.Int).SetBytes(serial)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	return x509.CreateCertificate(rand.Reader, template, s.intermediate, publicKey, s.pair.PrivateKey)
}

// Makes agents whose certificates are of an age between two, and writes them down. Agents beyond `kept` get a
// certificate like the others, but nobody will speak for them.
func (f *Fleet) makeAgents(count, kept int, ageMin, ageMax time.Duration, path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	writer := bufio.NewWriterSize(file, 1<<20)
	encoder := json.NewEncoder(writer)
	f.agents = make([]*Agent, min(count, kept))
	var mutex sync.Mutex
	err = inParallel(8, count, func(number int) error {
		age := ageMin + time.Duration(mathrand.Float64()*float64(ageMax-ageMin))
		identity, made, err := f.makeAgent(hostnameOf(number), time.Now().Add(-age).Truncate(time.Second))
		if err != nil {
			return err
		}
		mutex.Lock()
		defer mutex.Unlock()
		if number < kept {
			f.agents[number] = newAgent(number, identity)
		}
		return encoder.Encode(made)
	})
	if err != nil {
		return err
	}
	return writer.Flush()
}

func (f *Fleet) makeAgent(hostname string, notBefore time.Time) (*Identity, *MadeAgent, error) {
	key, _, err := newKeyAndRequest(hostname)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: hostname},
		DNSNames:  []string{hostname},
		NotBefore: notBefore,
		NotAfter:  notBefore.Add(certificateLife),
	}
	leaf, err := f.signer.sign(template, &key.PublicKey)
	if err != nil {
		return nil, nil, err
	}
	chain := [][]byte{leaf, f.signer.intermediate.Raw}
	identity, err := newIdentity(key, chain, f.roots)
	if err != nil {
		return nil, nil, err
	}
	digest := sha256.Sum256(leaf)
	var text []byte
	for _, certificate := range chain {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})...)
	}
	return identity, &MadeAgent{
		hostname, identity.serial, hex.EncodeToString(digest[:]),
		identity.notBefore.UnixMilli(), identity.notAfter.UnixMilli(), string(text),
	}, nil
}

func hostnameOf(number int) string { return fmt.Sprintf("fleet-%06d", number) }
