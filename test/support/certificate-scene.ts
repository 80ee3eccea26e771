// A CA with an intermediate, a host that has a certificate of it, and a hub whose rules trust it.

import { hash, sign } from 'node:crypto'
import { readCertificateHostKey } from '../../src/agent/identity/certificate-host-key.ts'
import {
  CA_EXTENSIONS,
  createOpensslPki,
  hostExtensions,
  type MadeCertificate,
  type OpensslPki,
} from './openssl-pki.ts'
import { HOST, openProofScene, type ProofScene, soon } from './proof-scene.ts'

export interface CertificateScene extends AsyncDisposable {
  readonly pki: OpensslPki
  readonly scene: ProofScene
  readonly root: MadeCertificate
  /** May sign certificates of hosts, and of no CA. */
  readonly middle: MadeCertificate
  readonly host: MadeCertificate
  /** By a new rule, until the next one; its name. */
  readonly trust: (ca?: string) => Promise<string>
  /** As the agent makes it, of a certificate and what is above it. */
  readonly prove: (chain: readonly MadeCertificate[], statement?: object) => Promise<string>
  /** By hand, with whatever header. */
  readonly forge: (
    changes: object,
    signer?: (input: string) => Buffer,
    statement?: object,
  ) => string
}

export async function openCertificateScene(): Promise<CertificateScene> {
  const pki = createOpensslPki()
  const scene = await openProofScene()
  const root = pki.make('Root', { extensions: CA_EXTENSIONS, days: 3650 })
  const short = ['basicConstraints=critical,CA:TRUE,pathlen:0', CA_EXTENSIONS[1]]
  const middle = pki.make('Middle', { issuer: root, extensions: short, days: 3650 })
  const names = hostExtensions(HOST, 'old.example.org')
  const host = pki.make('whoever', { issuer: middle, extensions: names })
  let rule: string | undefined
  return {
    pki,
    scene,
    root,
    middle,
    host,
    trust: async (ca = root.pem) => {
      scene.clock.set(soon())
      if (rule !== undefined) await scene.admin.endJoinRule({ join_rule: rule })
      ;({ name: rule } = await scene.makeRule({ method: 'x5c', x5c: { ca } }))
      return rule
    },
    prove: async (chain, statement = scene.state()) => {
      const certificatePem = chain.map(({ pem }) => pem).join('')
      const { keyPem = '', keyPath = '', certificatePath = '' } = chain[0] ?? {}
      const key = readCertificateHostKey({ certificatePath, certificatePem, keyPath, keyPem })
      return key.prove(Buffer.from(JSON.stringify(statement)))
    },
    forge: (changes, signer = signWith(host.keyPem), statement = scene.state()) => {
      const usual = { typ: 'svc-enroll+jwt', alg: 'ES256', x5c: [host, middle].map(derOf) }
      const input = `${encode({ ...usual, ...changes })}.${encode(statement)}`
      return `svcp.x5c.${input}.${signer(input).toString('base64url')}`
    },
    [Symbol.asyncDispose]: async () => {
      await scene[Symbol.asyncDispose]()
      pki[Symbol.dispose]()
    },
  }
}

export function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** DER in base64. */
export function derOf({ pem }: { readonly pem: string }): string {
  return pem.replaceAll(/-----[^-]+-----|\s/g, '')
}

export function sha256Of(made: { readonly pem: string }): string {
  return hash('sha256', Buffer.from(derOf(made), 'base64'))
}

export function signWith(key: string, digest = 'sha256'): (input: string) => Buffer {
  return (input) => sign(digest, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
}
