// The vault's directory without a key to it: nothing is opened but the hub's certificate. docs/protocol.md DOC-9.

import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { vaultFiles } from '../../hub/vault/vault-files.ts'
import { describeCertificates } from '../../hub/facts/read-certificates.ts'
import { readRootFile } from '../../hub/root-file.ts'
import { errnoCode } from '../../platform/errors.ts'
import { describeStrangers, findPathHands } from '../../platform/path-hands.ts'
import { readSmallFile } from '../../platform/small-file.ts'
import type { CertificateFacts } from '../../protocol/admin/examination.ts'
import type { VaultFacts, VaultFileFacts } from '../scene.ts'
import { runBounded } from './bounded-child.ts'

const FILES_MAX = 1000
const FILE_BYTES_MAX = 1024 * 1024
const NAME_MS_MAX = 2000

export async function lookAtVault(root: string): Promise<VaultFacts> {
  const stats = statSync(root, { throwIfNoEntry: false })
  if (stats === undefined) {
    return { root, mode: undefined, uid: 0, owner: 'nobody', stranger: undefined, files: undefined }
  }
  return {
    root,
    mode: stats.mode,
    uid: stats.uid,
    owner: await nameOf(stats.uid),
    stranger: describeStrangers(findPathHands(root)),
    files: listFiles(root),
  }
}

function listFiles(root: string): VaultFileFacts[] | undefined {
  try {
    return readdirSync(root)
      .slice(0, FILES_MAX)
      .flatMap((name) => {
        const stats = lstatSync(join(root, name), { throwIfNoEntry: false })
        // One that was a moment ago is the hub's, at work.
        return stats === undefined ? [] : [{ name, mode: stats.mode & 0o7777, uid: stats.uid }]
      })
  } catch (error) {
    if (errnoCode(error) === 'EACCES') return undefined
    throw error
  }
}

async function nameOf(uid: number): Promise<string> {
  const { stdout } = await runBounded('getent', ['passwd', String(uid)], NAME_MS_MAX)
  return stdout.split(':')[0] || `user ${uid}`
}

/** Throws what the system says when they cannot be read. */
export async function lookAtCertificates(
  root: string,
  rootPath: string,
): Promise<CertificateFacts> {
  const roots = await readRootFile(rootPath)
  const rootPem = roots.map(({ pem }) => pem).join('')
  return describeCertificates(readIfThere(vaultFiles(root).serverCertificate), rootPem)
}

function readIfThere(path: string): string | undefined {
  try {
    return readSmallFile(path, FILE_BYTES_MAX).text
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw error
  }
}
