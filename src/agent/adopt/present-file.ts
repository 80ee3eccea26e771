// What a service reads now: the file behind its path, what is in it, whose it is.

import { createPrivateKey, hash, type KeyObject } from 'node:crypto'
import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errnoCode } from '../../platform/errors.ts'
import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import type { PemPart } from '../targets/target.ts'
import { readPlainFile } from './plain-file.ts'

export interface PresentFile {
  /** Of the name itself, in directories without links: where a target puts a file. */
  readonly path: string
  /** Where its links lead. */
  readonly realPath: string
  /** What the name itself is a link to; undefined for a plain file. */
  readonly link: string | undefined
  readonly sha256: string
  readonly uid: number
  readonly gid: number
  readonly mode: number
  readonly certificates: readonly Certificate[]
  /** The first one; undefined when there is none that can be read without a password. */
  readonly privateKey: KeyObject | undefined
  /** Of all PEM blocks, in the order in which they stand: `CERTIFICATE`, `EC PRIVATE KEY`. */
  readonly labels: readonly string[]
  /** More than blank lines, comments, and what OpenSSL writes around a block. */
  readonly hasOtherText: boolean
  /** In the order in which they stand. */
  readonly order: readonly Extract<PemPart, 'cert' | 'key'>[]
}

export const PRESENT_BYTES_MAX = 1024 * 1024
const PERMISSION_BITS = 0o7777
const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----(?:[A-Za-z0-9+/=\s:,]|-(?!-))*-----END \1-----/g
const AROUND_BLOCK =
  /^(?:#.*|\s.*|(?:Certificate|Bag Attributes|Key Attributes)\b.*|(?:subject|issuer)=.*|)$/

/** The reason, as text, when it is not there or is no file of PEM. */
export function readPresentFile(given: string): PresentFile | string {
  try {
    const path = join(realpathSync(dirname(given)), basename(given))
    const link = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
    const realPath = realpathSync(path)
    const { bytes, stats } = readPlainFile(realPath, PRESENT_BYTES_MAX)
    const text = bytes.toString('utf8')
    const certificates = parseCertificatesPem(text)
    // Every plan shows dates; of a text that is none Node makes any date at all.
    if (certificates.some(({ x509 }) => Number.isNaN(Date.parse(x509.validTo)))) {
      return `${given} cannot be read as certificates`
    }
    const labels = [...text.matchAll(BLOCK)].map(([, label = '']) => label)
    const around = text.replaceAll(BLOCK, '').split('\n')
    const kinds = labels.flatMap((label) => {
      if (label === 'CERTIFICATE') return ['cert' as const]
      return label.endsWith('PRIVATE KEY') ? ['key' as const] : []
    })
    return {
      path,
      realPath,
      link,
      sha256: hash('sha256', bytes, 'hex'),
      uid: stats.uid,
      gid: stats.gid,
      mode: stats.mode & PERMISSION_BITS,
      certificates,
      privateKey: kinds.includes('key') ? keyIn(text) : undefined,
      labels,
      hasOtherText: around.some((line) => !AROUND_BLOCK.test(line)),
      order: [...new Set(kinds)],
    }
  } catch (error) {
    const code = errnoCode(error)
    return `${given} cannot be read${code === undefined ? ' as certificates' : `: ${code}`}`
  }
}

function keyIn(text: string): KeyObject | undefined {
  try {
    return createPrivateKey(text)
  } catch {
    return undefined
  }
}
