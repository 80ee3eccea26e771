// The CLI alone as an archive, for systems without dpkg: one file, `svc`.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Architecture, ownArchitecture } from '../build/architecture.ts'

export interface CliArchive {
  /** Where the executable `svc` is. */
  readonly programs: string
  /** What it is for; this machine's unless given. */
  readonly architecture?: Architecture
  readonly version: string
  readonly releasedAt: Date
  readonly outputDirectory: string
}

/** Returns its path. The same executable gives the same bytes. */
export async function writeCliArchive({
  programs,
  architecture = ownArchitecture(),
  version,
  releasedAt,
  outputDirectory,
}: CliArchive): Promise<string> {
  const path = join(outputDirectory, `svc_${version}_linux-${architecture}.tar.gz`)
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=0755']
  const time = `--mtime=@${releasedAt.getTime() / 1000}`
  // -n: gzip writes neither name nor time.
  const gzip = '--use-compress-program=gzip -n'
  const args = ['--create', gzip, ...owner, time, `--file=${path}`, `--directory=${programs}`]
  await promisify(execFile)('tar', [...args, 'svc'])
  return path
}
