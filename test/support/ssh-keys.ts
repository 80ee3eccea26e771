// Keys, certificates and signatures that ssh-keygen makes.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type SshKeyKind =
  | 'ed25519'
  | 'ecdsa-256'
  | 'ecdsa-384'
  | 'ecdsa-521'
  | 'rsa-1024'
  | 'rsa-2048'

export interface SshKey {
  readonly path: string
  /** `type base64`. */
  readonly publicLine: string
  readonly blob: Buffer
  readonly privateText: string
}

export interface SshKeys extends Disposable {
  make(
    kind: SshKeyKind,
    options?: { readonly isPem?: boolean; readonly passphrase?: string },
  ): SshKey
  /** SSHSIG without its armour. */
  sign(key: SshKey, namespace: string, message: string): Buffer
  /** Whether ssh-keygen takes the signature. */
  check(namespace: string, message: Uint8Array, sshsig: Buffer): boolean
  /** By `ssh-keygen -s`, with these arguments; beside the key. */
  certify(key: SshKey, authority: SshKey, args: readonly string[]): Buffer
  /** The names of known_hosts lines hashed, by `ssh-keygen -H`. */
  hashed(lines: string): string
  fingerprint(key: SshKey): string
}

export function createSshKeys(): SshKeys {
  const directory = mkdtempSync(join(tmpdir(), 'ssh-'))
  let made = 0
  return {
    make: (kind, { isPem = false, passphrase = '' } = {}) => {
      made += 1
      const path = join(directory, `key-${made}`)
      const [type = '', bits] = kind.split('-')
      const size = bits === undefined ? [] : ['-b', bits === '1024' ? '2048' : bits]
      if (kind === 'rsa-1024') makeWeakKey(path)
      else
        run(
          '-q',
          '-t',
          type,
          ...size,
          '-N',
          passphrase,
          '-f',
          path,
          ...(isPem ? ['-m', 'PEM'] : []),
        )
      const publicLine = readFileSync(`${path}.pub`, 'utf8').split(' ').slice(0, 2).join(' ').trim()
      const blob = Buffer.from(publicLine.split(' ')[1] ?? '', 'base64')
      return { path, publicLine, blob, privateText: readFileSync(path, 'utf8') }
    },
    sign: ({ path }, namespace, message) => {
      const armoured = run('-Y', 'sign', '-q', '-f', path, '-n', namespace, { input: message })
      return Buffer.from(armoured.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
    },
    check: (namespace, message, sshsig) => {
      const path = join(directory, 'signature')
      const lines = sshsig.toString('base64').match(/.{1,70}/g) ?? []
      writeFileSync(
        path,
        `-----BEGIN SSH SIGNATURE-----\n${lines.join('\n')}\n-----END SSH SIGNATURE-----\n`,
      )
      const args = ['-Y', 'check-novalidate', '-n', namespace, '-s', path]
      return spawnSync('ssh-keygen', args, { input: message }).status === 0
    },
    certify: ({ path }, { path: authority }, args) => {
      run('-q', '-s', authority, '-I', 'an id', ...args, `${path}.pub`)
      return Buffer.from(readFileSync(`${path}-cert.pub`, 'utf8').split(' ')[1] ?? '', 'base64')
    },
    hashed: (lines) => {
      const path = join(directory, 'known_hosts')
      writeFileSync(path, `${lines}\n`)
      run('-q', '-H', '-f', path)
      return readFileSync(path, 'utf8').trim()
    },
    fingerprint: ({ path }) => run('-l', '-f', `${path}.pub`).split(' ')[1] ?? '',
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  }
}

/** ssh-keygen itself makes none so small any more; it signs with one. */
function makeWeakKey(path: string): void {
  const { status } = spawnSync('openssl', ['genrsa', '-traditional', '-out', path, '1024'])
  if (status !== 0) throw new Error('openssl makes no key')
  writeFileSync(`${path}.pub`, run('-y', '-f', path))
}

function run(...all: readonly (string | { readonly input: string })[]): string {
  const args = all.filter((each) => typeof each === 'string')
  const options = all.find((each) => typeof each !== 'string')
  const { status, stdout, stderr } = spawnSync('ssh-keygen', args, { encoding: 'utf8', ...options })
  if (status !== 0) throw new Error(`ssh-keygen ${args.join(' ')}: ${stderr}`)
  return stdout
}
