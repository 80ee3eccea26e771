package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"
)

// Gate stands before the CA, passes everything on, and counts how many calls are under way: what the CA sees of the hub,
// seen from outside of both.
type Gate struct {
	address   string
	running   atomic.Int64
	atOnceMax atomic.Int64
	calls     atomic.Int64
}

const callsKept = 256

func openGate(target *url.URL, signer *Signer, roots *x509.CertPool) (*Gate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf, err := signer.sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "gate"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Now().Add(-time.Minute),
		NotAfter:    time.Now().Add(certificateLife),
	}, &key.PublicKey)
	if err != nil {
		return nil, err
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{{PrivateKey: key, Certificate: [][]byte{leaf, signer.intermediate.Raw}}},
		NextProtos:   []string{"http/1.1"},
	})
	if err != nil {
		return nil, err
	}
	gate := &Gate{address: listener.Addr().String()}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots, ServerName: target.Hostname()},
		MaxIdleConnsPerHost: callsKept,
	}
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	// A CA that is not there answers nothing, so neither does the gate.
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	server := &http.Server{ErrorLog: proxy.ErrorLog, Handler: http.HandlerFunc(
		func(response http.ResponseWriter, request *http.Request) {
			if request.URL.Path == "/1.0/sign" {
				gate.begin()
				defer gate.running.Add(-1)
			}
			proxy.ServeHTTP(response, request)
		})}
	go server.Serve(listener)
	return gate, nil
}

func (g *Gate) begin() {
	g.calls.Add(1)
	running := g.running.Add(1)
	for seen := g.atOnceMax.Load(); running > seen; seen = g.atOnceMax.Load() {
		if g.atOnceMax.CompareAndSwap(seen, running) {
			return
		}
	}
}

// The most since the last time.
func (g *Gate) takeAtOnceMax() int64 { return g.atOnceMax.Swap(g.running.Load()) }
