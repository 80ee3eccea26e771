package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
)

// Provisioner makes the one-time tokens that the CA takes from a hub.
type Provisioner struct {
	name     string
	audience string
	header   string
	key      *ecdsa.PrivateKey
}

func newProvisioner(setup Setup) (*Provisioner, error) {
	var jwk struct{ Kid, X, Y, D string }
	if err := json.Unmarshal(setup.ProvisionerKey, &jwk); err != nil {
		return nil, err
	}
	key, err := privateKeyOf(jwk.X, jwk.Y, jwk.D)
	header, _ := json.Marshal(map[string]string{"alg": "ES256", "kid": jwk.Kid, "typ": "JWT"})
	audience := strings.TrimSuffix(setup.CaURL, "/") + signPath
	return &Provisioner{setup.ProvisionerName, audience, base64url(header), key}, err
}

func (p *Provisioner) oneTimeToken(host Host, nowSeconds int64) (string, error) {
	fingerprint := sha256.Sum256(host.csrDER)
	jti := make([]byte, 16)
	if _, err := rand.Read(jti); err != nil {
		return "", err
	}
	claims, _ := json.Marshal(map[string]any{
		"iss": p.name, "aud": p.audience, "sub": host.name, "sans": []string{host.name},
		"cnf": map[string]string{"x5rt#S256": base64url(fingerprint[:])},
		"nbf": nowSeconds - 60, "exp": nowSeconds + 300, "jti": base64url(jti),
	})
	return signES256(p.key, p.header, claims)
}

// A JWS in the compact form.
func signES256(key *ecdsa.PrivateKey, header string, claims []byte) (string, error) {
	signed := header + "." + base64url(claims)
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + base64url(signature), nil
}

// What an agent says of its CSR with the key of its expired identity.
func recoveryProof(key *ecdsa.PrivateKey, host Host, nowSeconds int64) (string, error) {
	fingerprint := sha256.Sum256(host.csrDER)
	jti := make([]byte, 16)
	if _, err := rand.Read(jti); err != nil {
		return "", err
	}
	claims, _ := json.Marshal(map[string]any{
		"csr_sha256": base64url(fingerprint[:]), "aud": "localhost", "iat": nowSeconds, "jti": base64url(jti),
	})
	return signES256(key, base64url([]byte(`{"alg":"ES256"}`)), claims)
}

func base64url(bytes []byte) string { return base64.RawURLEncoding.EncodeToString(bytes) }

func privateKeyOf(x, y, d string) (*ecdsa.PrivateKey, error) {
	key := &ecdsa.PrivateKey{}
	key.Curve = elliptic.P256()
	var failures [3]error
	key.X, failures[0] = coordinate(x)
	key.Y, failures[1] = coordinate(y)
	key.D, failures[2] = coordinate(d)
	return key, errors.Join(failures[:]...)
}

func coordinate(text string) (*big.Int, error) {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	return new(big.Int).SetBytes(bytes), err
}
