// What a CA answers to one request for a signature: a CSR, a token and a body with one thing about them.

import { generateProvisionerJwk } from '../../src/dev-ca/provisioner.ts'
import { type CsrOptions, secondsFromNow, type TokenHeader } from '../support/raw-ca-client.ts'

export interface SignRule {
  readonly title: string
  readonly status: number
  readonly csr?: CsrOptions
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: TokenHeader
  readonly body?: Readonly<Record<string, unknown>>
}

const otherJwk = await generateProvisionerJwk()

export const SIGN_RULES: readonly SignRule[] = [
  { title: 'signs a CSR without SANs', status: 201 },
  { title: 'signs a CSR without a CN', status: 201, csr: { commonName: '' } },
  {
    title: 'signs a CSR whose CN is one of the SANs',
    status: 201,
    csr: { commonName: 'b.example' },
    claims: { sans: ['web-1', 'b.example'] },
  },
  { title: 'refuses a CSR with another CN', status: 403, csr: { commonName: 'web-2' } },
  { title: 'refuses a CN that differs in case', status: 403, csr: { commonName: 'WEB-1' } },
  {
    title: 'signs a CSR with exactly the SANs of the token',
    status: 201,
    csr: { sans: ['b.example', 'web-1'] },
    claims: { sans: ['web-1', 'b.example'] },
  },
  {
    title: 'signs a CSR with exactly the DNS names and addresses of the token',
    status: 201,
    csr: { sans: ['web-1', '10.1.2.3', '2001:db8::1'] },
    claims: { sans: ['web-1', '10.1.2.3', '2001:0db8:0::1'] },
  },
  {
    title: 'refuses a CSR with a SAN more than the token',
    status: 403,
    csr: { sans: ['web-1', 'b.example'] },
    claims: { sans: ['web-1'] },
  },
  {
    title: 'refuses a CSR with a SAN less than the token',
    status: 403,
    csr: { sans: ['web-1'] },
    claims: { sans: ['web-1', 'b.example'] },
  },
  {
    title: 'refuses a CSR with a SAN other than the subject when the token has none',
    status: 403,
    csr: { sans: ['b.example'] },
  },
  { title: 'signs a P-384 key', status: 201, csr: { algorithm: 'P-384' } },
  { title: 'signs an Ed25519 key', status: 201, csr: { algorithm: 'Ed25519' } },
  { title: 'signs an RSA key of 2048 bits', status: 201, csr: { algorithm: 'RSA-2048' } },
  { title: 'refuses an RSA key of 1024 bits', status: 403, csr: { algorithm: 'RSA-1024' } },
  { title: 'refuses a token of another provisioner name', status: 401, claims: { iss: 'someone' } },
  { title: 'refuses a token without an issuer', status: 401, claims: { iss: undefined } },
  { title: 'refuses a token with another key id', status: 401, header: { kid: 'other' } },
  { title: 'refuses a token signed by another key', status: 401, header: { jwk: { ...otherJwk } } },
  {
    title: 'refuses a token for another URL',
    status: 401,
    claims: { aud: 'https://elsewhere.example/1.0/sign' },
  },
  {
    title: 'refuses a token for revoking',
    status: 401,
    claims: { aud: 'https://127.0.0.1/1.0/revoke' },
  },
  { title: 'refuses a token without an audience', status: 401, claims: { aud: undefined } },
  {
    title: 'takes the audience without regard to the port',
    status: 201,
    claims: { aud: 'https://127.0.0.1/1.0/sign' },
  },
  {
    title: 'takes the audience by the short path and another of its names',
    status: 201,
    claims: { aud: ['https://localhost:1/sign'] },
  },
  { title: 'refuses a token without a subject', status: 401, claims: { sub: undefined } },
  {
    title: 'refuses a token with an empty subject',
    status: 401,
    claims: { sub: '', sans: ['web-1'] },
  },
  {
    title: 'takes a token that expired within the leeway',
    status: 201,
    claims: { exp: secondsFromNow(-20) },
  },
  {
    title: 'refuses a token that expired before the leeway',
    status: 401,
    claims: { exp: secondsFromNow(-90) },
  },
  {
    title: 'takes a token that begins within the leeway',
    status: 201,
    claims: { nbf: secondsFromNow(50) },
  },
  {
    title: 'refuses a token that begins after the leeway',
    status: 401,
    claims: { nbf: secondsFromNow(600) },
  },
  {
    title: 'refuses a token issued before the CA started, without leeway',
    status: 401,
    claims: { iat: secondsFromNow(-3600) },
  },
  {
    title: 'takes a token issued ahead within the leeway',
    status: 201,
    claims: { iat: secondsFromNow(20) },
  },
  {
    title: 'refuses a token issued in the future',
    status: 401,
    claims: { iat: secondsFromNow(600) },
  },
  { title: 'refuses sans that are not a list', status: 401, claims: { sans: 'web-1' } },
  {
    title: 'refuses a fingerprint of another CSR',
    status: 403,
    claims: { cnf: { 'x5rt#S256': 'A'.repeat(43) } },
  },
  { title: 'refuses a body without a token', status: 400, body: { ott: undefined } },
  { title: 'refuses a token that is none', status: 401, body: { ott: 'not.a.token' } },
  { title: 'refuses a body without a CSR', status: 400, body: { csr: undefined } },
  { title: 'refuses a CSR that is none', status: 400, body: { csr: 'nonsense' } },
  { title: 'refuses a CSR that is not a text', status: 400, body: { csr: 7 } },
  { title: 'refuses less than the shortest validity', status: 403, body: { notAfter: '3m' } },
  { title: 'refuses more than the longest validity', status: 403, body: { notAfter: '25h' } },
  { title: 'refuses a validity that is over', status: 400, body: { notAfter: '-1h' } },
  { title: 'refuses a validity that is none', status: 400, body: { notAfter: 'tomorrow' } },
]
