// The key that a host has already, of which it enrols in place of a token: root's file most often, read before root gives up its rights.

import { UserError } from '../../platform/errors.ts'
import { readGivenFile } from '../files/given-files.ts'
import { readCertificateHostKey } from '../identity/certificate-host-key.ts'
import type { HostKey } from '../identity/host-key.ts'
import { readSshHostKey } from '../identity/ssh-host-key.ts'
import type { AgentConfig, HostKeyFiles } from '../settings/config.ts'

export const HOST_KEY_BYTES_MAX = 65_536

export function filesOfHostKey({ hostKey }: Pick<AgentConfig, 'hostKey'>): string[] {
  if (hostKey === undefined) return []
  return hostKey.method === 'x5c'
    ? [hostKey.certificatePath, hostKey.keyPath]
    : [hostKey.keyPath, certificateBeside(hostKey.keyPath)]
}

export async function readHostKey(files: HostKeyFiles): Promise<HostKey> {
  const { keyPath } = files
  if (files.method === 'ssh') {
    const certificateText = await readGivenFile(certificateBeside(keyPath), HOST_KEY_BYTES_MAX)
    return readSshHostKey({ keyPath, keyText: await readPresent(keyPath), certificateText })
  }
  const { certificatePath } = files
  const certificatePem = await readPresent(certificatePath)
  return readCertificateHostKey({
    certificatePath,
    certificatePem,
    keyPath,
    keyPem: await readPresent(keyPath),
  })
}

/** Where ssh-keygen puts it. */
function certificateBeside(keyPath: string): string {
  return `${keyPath}-cert.pub`
}

async function readPresent(path: string): Promise<string> {
  const text = await readGivenFile(path, HOST_KEY_BYTES_MAX)
  if (text !== undefined) return text
  throw new UserError('host_key_missing', `read ${path}: not found`, {
    hint: 'see SVC_ENROLL_HOST_CERTIFICATE, SVC_ENROLL_HOST_KEY and SVC_ENROLL_SSH_HOST_KEY',
  })
}
