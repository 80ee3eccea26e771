package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"
)

const role = "bench"

// Generator keeps what was prepared from command to command.
type Generator struct {
	setup       Setup
	roots       *x509.CertPool
	caURL       *url.URL
	provisioner *Provisioner
	// One key serves all hosts: what the servers do is the same, and making keys is not what is measured.
	key        *ecdsa.PrivateKey
	recipient  string
	hostsMade  int
	enrolments []Enrolment
	agents     []Agent
	streams    []*Stream
	workers    []*Worker
	ran        time.Duration
}

// Enrolment is a token with a CSR for its host, ready to be used once.
type Enrolment struct {
	host    Host
	request []byte
}

// Host has a name and a CSR for it.
type Host struct {
	name   string
	csrDER []byte
	csrPEM string
}

// Agent has been enrolled.
type Agent struct {
	host      Host
	tlsConfig *tls.Config
}

func (g *Generator) setUp(setup Setup) (err error) {
	rootPEM, err := os.ReadFile(setup.CaRootPath)
	if err != nil {
		return err
	}
	g.setup, g.roots = setup, x509.NewCertPool()
	g.roots.AppendCertsFromPEM(rootPEM)
	if g.caURL, err = url.Parse(setup.CaURL); err != nil {
		return err
	}
	if g.provisioner, err = newProvisioner(setup); err != nil {
		return err
	}
	g.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return err
}

func (g *Generator) newHost() (Host, error) {
	g.hostsMade++
	name := fmt.Sprintf("%s-%06d", g.setup.HostPrefix, g.hostsMade)
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, g.key)
	csrPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	return Host{name, der, string(csrPEM)}, err
}

// Makes sure that `count` enrolments are ready; those left over from the last time count.
func (g *Generator) prepareEnrolments(count int) error {
	hosts := make(chan Host)
	var mutex sync.Mutex
	done := inParallel(8, func(int) error {
		connection, err := dialPlain("unix", g.setup.AdminSocket)
		if err != nil {
			return err
		}
		defer connection.Close()
		for host := range hosts {
			enrolment, err := g.createToken(connection, host)
			if err != nil {
				return err
			}
			mutex.Lock()
			g.enrolments = append(g.enrolments, enrolment)
			mutex.Unlock()
		}
		return nil
	})
	for missing := count - len(g.enrolments); missing > 0; missing-- {
		host, err := g.newHost()
		if err != nil {
			return err
		}
		select {
		case hosts <- host:
		case err := <-done:
			return err
		}
	}
	close(hosts)
	return <-done
}

func (g *Generator) createToken(connection *Connection, host Host) (Enrolment, error) {
	asked, _ := json.Marshal(map[string]string{"hostname": host.name, "role": role})
	body, err := connection.ask(postRequest("/v1/admin/tokens", asked), 200)
	if err != nil {
		return Enrolment{}, err
	}
	var created struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(body, &created); err != nil {
		return Enrolment{}, err
	}
	asking := map[string]string{
		"token": created.Token, "hostname": host.name, "role": role, "csr_pem": host.csrPEM,
	}
	if g.recipient != "" {
		asking["recipient"] = g.recipient
	}
	enroll, err := json.Marshal(asking)
	return Enrolment{host, postRequest("/v1/enroll", enroll)}, err
}

// Makes sure that there are `count` agents, enrolled as any other, each with its own identity.
func (g *Generator) enrollAgents(count int) error {
	missing := count - len(g.agents)
	if missing <= 0 {
		return nil
	}
	if err := g.prepareEnrolments(missing); err != nil {
		return err
	}
	connection, err := dialPlain("tcp", g.setup.EnrollAddress)
	if err != nil {
		return err
	}
	defer connection.Close()
	for ; missing > 0; missing-- {
		enrolment := g.enrolments[0]
		g.enrolments = g.enrolments[1:]
		body, err := connection.ask(enrolment.request, 200)
		if err != nil {
			return err
		}
		var reply struct {
			CertPEM string `json:"cert_pem"`
		}
		if err := json.Unmarshal(body, &reply); err != nil {
			return err
		}
		g.agents = append(g.agents, Agent{enrolment.host, g.clientConfig(reply.CertPEM)})
	}
	return nil
}

// What the hub answers an agent that polls, so that a yardstick can answer the same.
func (g *Generator) readManifest() (any, error) {
	connection, err := dialTLS(g.setup.MtlsAddress, g.agents[0].tlsConfig)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	body, err := connection.ask(getRequest(manifestPath), 200)
	return map[string]string{"body": string(body)}, err
}

// Leaf and intermediates are sent, the server's chain and name are checked, and no session is ever resumed.
func (g *Generator) clientConfig(chainPEM string) *tls.Config {
	identity := tls.Certificate{PrivateKey: g.key}
	for block, rest := pem.Decode([]byte(chainPEM)); block != nil; block, rest = pem.Decode(rest) {
		identity.Certificate = append(identity.Certificate, block.Bytes)
	}
	return &tls.Config{
		Certificates:           []tls.Certificate{identity},
		RootCAs:                g.roots,
		ServerName:             "localhost",
		SessionTicketsDisabled: true,
	}
}
