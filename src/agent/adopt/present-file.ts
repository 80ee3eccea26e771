// What a service reads now: the file behind its path, what is in it, whose it is.

import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errnoCode } from '../../platform/errors.ts'
import { readSmallFile } from '../../platform/small-file.ts'
import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import type { PemPart } from '../targets/target.ts'

export interface PresentFile {
  /** Of the name itself, in directories without links: where a target puts a file. */
  readonly path: string
  /** Where its links lead. */
  readonly realPath: string
  /** What the name itself is a link to; undefined for a plain file. */
  readonly link: string | undefined
  readonly uid: number
  readonly gid: number
  readonly mode: number
  readonly certificates: readonly Certificate[]
  /** In the order in which they stand. */
  readonly order: readonly Extract<PemPart, 'cert' | 'key'>[]
}

export const PRESENT_BYTES_MAX = 1024 * 1024
const PERMISSION_BITS = 0o7777
const BLOCK = /-----BEGIN (?:[A-Z0-9 ]*)(CERTIFICATE|PRIVATE KEY)-----/g

/** The reason, as text, when it is not there or is no file of PEM. */
export function readPresentFile(given: string): PresentFile | string {
  try {
    const path = join(realpathSync(dirname(given)), basename(given))
    const link = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
    const realPath = realpathSync(path)
    const { text, stats } = readSmallFile(realPath, PRESENT_BYTES_MAX)
    const kinds = [...text.matchAll(BLOCK)].map(([, kind]) =>
      kind === 'CERTIFICATE' ? ('cert' as const) : ('key' as const),
    )
    return {
      path,
      realPath,
      link,
      uid: stats.uid,
      gid: stats.gid,
      mode: stats.mode & PERMISSION_BITS,
      certificates: parseCertificatesPem(text),
      order: [...new Set(kinds)],
    }
  } catch (error) {
    const code = errnoCode(error)
    return `${given} cannot be read${code === undefined ? ' as certificates' : `: ${code}`}`
  }
}
