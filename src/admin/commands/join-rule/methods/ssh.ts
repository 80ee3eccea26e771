import { KNOWN_HOSTS_CHARACTERS_MAX } from '../../../../protocol/admin/join-methods.ts'
import { readFrom } from '../../read-from.ts'
import type { JoinMethod } from './join-method.ts'
import { readText } from './read-text.ts'

export interface SshOptions {
  readonly knownHosts?: string
  readonly sshCa?: string
}

/** Method ssh: the host's own key of OpenSSH. */
export const sshMethod: JoinMethod<SshOptions> = {
  addOptions: (command) =>
    command
      .option('--known-hosts <file>', 'they show their SSH host key, which this file has')
      .option('--ssh-ca <file>', 'they show an SSH host certificate of the CAs in this file'),
  read: async (context, { knownHosts, sshCa }) => {
    const lines = (option: string, file: string | undefined) =>
      readFrom(context, file, readText(option, 'known_hosts_invalid', KNOWN_HOSTS_CHARACTERS_MAX))
    const known = await lines('--known-hosts', knownHosts)
    const authorities = await lines('--ssh-ca', sshCa)
    if (known === undefined && authorities === undefined) return undefined
    const known_hosts = [known ?? '', toKnownHosts(authorities ?? '')].join('\n')
    return { method: 'ssh', ssh: { known_hosts } }
  },
  describe: ({ ssh }) => {
    if (!ssh) return {}
    const { keys, authorities, revoked, ignored } = ssh
    return {
      keys: String(keys),
      ...(authorities.length > 0 && { authorities: authorities.join(', ') }),
      ...(revoked > 0 && { revoked: String(revoked) }),
      ...(ignored > 0 && { ignored: String(ignored) }),
    }
  },
  help: `With --known-hosts a host shows its SSH host key: the file has lines as ~/.ssh/known_hosts or ssh-keyscan have them, hashed or not, and a
key lets in the names that stand before it. A name with * counts after @cert-authority alone, and one with a port not at all; @revoked
keys let in nobody. With --ssh-ca a host shows a host certificate that names it among its principals; the file has public keys of CAs.
Both may be given. On the host, SVC_ENROLL_SSH_HOST_KEY names the private key, which root reads; its certificate is beside it.
Lines with keys other than Ed25519, ECDSA (P-256, P-384) and RSA (2048 to 4096 bits) are ignored, and counted.`,
  examples: [
    `svc join-rule create known --known-hosts /etc/ssh/ssh_known_hosts --pattern '*.example.org' --role web --max-hosts 200`,
    `svc join-rule create ssh-ca --ssh-ca host_ca.pub --pattern '*.example.org' --role web --max-hosts 500`,
  ],
}

/** A line of a public key, as ssh-keygen writes it. */
function toKnownHosts(authorities: string): string {
  return authorities
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => `@cert-authority * ${line.trim()}`)
    .join('\n')
}
