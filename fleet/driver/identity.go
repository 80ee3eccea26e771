package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"math"
	"time"
)

// Identity is a key with its certificate, in use or waiting to be.
type Identity struct {
	config    *tls.Config
	serial    string
	notBefore time.Time
	notAfter  time.Time
	// The agent that obtained it does not renew it before: AGT-42.
	newUntil time.Time
	// Closed once another identity is in use.
	replaced chan struct{}
}

const renewalThreshold = 6 * time.Hour

func newKeyAndRequest(hostname string) (*ecdsa.PrivateKey, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", err
	}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: hostname}}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})), err
}

func identityFromPEM(key *ecdsa.PrivateKey, chainPEM string, roots *x509.CertPool) (*Identity, error) {
	var chain [][]byte
	for block, rest := pem.Decode([]byte(chainPEM)); block != nil; block, rest = pem.Decode(rest) {
		chain = append(chain, block.Bytes)
	}
	return newIdentity(key, chain, roots)
}

// Leaf and intermediates are sent, the hub's chain and name are checked, and no session is ever resumed.
func newIdentity(key *ecdsa.PrivateKey, chain [][]byte, roots *x509.CertPool) (*Identity, error) {
	if len(chain) == 0 {
		return nil, errors.New("a chain without certificates")
	}
	leaf, err := x509.ParseCertificate(chain[0])
	if err != nil {
		return nil, err
	}
	if public, ok := leaf.PublicKey.(*ecdsa.PublicKey); !ok || !public.Equal(&key.PublicKey) {
		return nil, errors.New("a certificate for another key")
	}
	return &Identity{
		config: &tls.Config{
			Certificates:           []tls.Certificate{{PrivateKey: key, Certificate: chain}},
			RootCAs:                roots,
			ServerName:             "localhost",
			SessionTicketsDisabled: true,
		},
		serial:    hex.EncodeToString(leaf.SerialNumber.Bytes()),
		notBefore: leaf.NotBefore,
		notAfter:  leaf.NotAfter,
		replaced:  make(chan struct{}),
	}, nil
}

// As src/agent/identity/certificate-lifetime.ts.
func (i *Identity) isDue(now time.Time) bool {
	if now.Before(i.newUntil) {
		return false
	}
	digest := sha256.Sum256([]byte(i.serial))
	share := 0.9 + float64(binary.BigEndian.Uint32(digest[:4]))/math.MaxUint32*0.2
	threshold := min(renewalThreshold, i.notAfter.Sub(i.notBefore)/3)
	return !now.Before(i.notAfter.Add(-time.Duration(float64(threshold) * share)))
}
