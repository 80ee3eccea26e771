// What the host says about one delivery: where its files go, whose they are, what happens then.

import type { KeyType } from '../../pki/keys.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'

export const PEM_PARTS = ['cert', 'chain', 'key', 'ca'] as const
export type PemPart = (typeof PEM_PARTS)[number]

/** What a file holds: PEM blocks in the order asked for, one password-protected PKCS#12, or the file that was delivered. */
export type TargetContent =
  | { readonly format: 'pem'; readonly parts: readonly PemPart[] }
  | { readonly format: 'pkcs12'; readonly passwordFile: string }
  | { readonly format: 'file' }

export interface TargetFile {
  /** Absolute and normal. */
  readonly path: string
  readonly content: TargetContent
  /** A user's name or number; undefined for the one who applies. */
  readonly owner: string | undefined
  readonly group: string | undefined
  /** Permission bits: 0o600 with a key in it, or what was sealed, unless said otherwise, else 0o644. */
  readonly mode: number
  /** The line of its `[[file]]` in the TOML, from 1. */
  readonly line: number
}

export interface TargetProbe {
  readonly host: string
  readonly port: number
  readonly protocol: 'tls' | 'postgres'
  /** The server name sent (SNI); undefined sends none. */
  readonly serverName: string | undefined
}

export interface Target {
  /** The TOML file that says all this. */
  readonly source: string
  /** SHA-256 of that file, hex: the agent applies an edited target again. */
  readonly sourceSha256: string
  readonly name: ArtefactName
  /** What it takes from `out/`; all of its files are of one kind. */
  readonly artefact: 'pair' | 'file'
  /** Of a pair's key. */
  readonly keyType: KeyType
  /** Program and arguments, run without a shell; undefined when nothing has to be told. */
  readonly reload: readonly string[] | undefined
  /** The hub gets the last of what a failed `reload` printed. */
  readonly reportsOutput: boolean
  readonly probe: TargetProbe | undefined
  readonly files: readonly TargetFile[]
}

/** One thing that is wrong with a target; nothing of its file is applied. */
export interface TargetProblem {
  readonly source: string
  /** From 1; undefined where it is about the whole file. */
  readonly line: number | undefined
  readonly reason: string
}

/** Of the file that says it. */
export const TARGET_TOML_BYTES_MAX = 64 * 1024

export function holdsKey({ content }: Pick<TargetFile, 'content'>): boolean {
  return content.format === 'pkcs12' || (content.format === 'pem' && content.parts.includes('key'))
}
