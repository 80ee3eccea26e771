import { UserError } from '../../platform/errors.ts'
import { formatProof, SSH_PROOF_NAMESPACE } from '../../protocol/host-proof.ts'
import { parseHostCertificate } from '../../ssh/host-certificate.ts'
import { parseSshPrivateKey } from '../../ssh/private-key.ts'
import { createSshsig } from '../../ssh/sshsig.ts'
import type { HostKey } from './host-key.ts'

export interface SshFiles {
  readonly keyPath: string
  readonly keyText: string
  /** Of `<key>-cert.pub`; undefined without one. */
  readonly certificateText: string | undefined
}

/** Method ssh: this host's own key of OpenSSH. Throws a UserError that says what is wrong. */
export function readSshHostKey({ keyPath, keyText, certificateText }: SshFiles): HostKey {
  const read = parseSshPrivateKey(keyText)
  if (!read.ok) {
    throw new UserError('host_key_invalid', `the SSH host key in ${keyPath}: ${read.fault}`, {
      hint: 'name a key of sshd, such as /etc/ssh/ssh_host_ed25519_key; the private one, without .pub',
    })
  }
  const certificate =
    certificateText === undefined ? [] : [readCertificate(certificateText, keyPath)]
  return {
    method: 'ssh',
    prove: async (statement) => {
      const signature = createSshsig(read.key, SSH_PROOF_NAMESPACE, statement)
      const parts = [statement, signature, ...certificate]
      return formatProof(
        'ssh',
        parts.map((part) => Buffer.from(part).toString('base64url')),
      )
    },
  }
}

function readCertificate(text: string, keyPath: string): Buffer {
  const bytes = Buffer.from(text.split(' ')[1] ?? '', 'base64')
  if (parseHostCertificate(bytes) !== undefined) return bytes
  throw new UserError('host_key_invalid', `${keyPath}-cert.pub is no certificate of OpenSSH`)
}
