// A sandbox that cannot be denied in silence. The shipped units answer a refused system call with EPERM, which a program may swallow;
// here it kills, and systemd writes that down.

import type { SystemdMachine } from './systemd-machine.ts'

const SANDBOXED = ['svc-server.service', 'svc-agent.service']
const DENIED =
  /denied|not permitted|permission|read-only file system|\b(?:EPERM|EACCES|EROFS|SIGSYS)\b|status=31|seccomp|avc:/i
/** The bus of Debian has no right to more open files here. */
const KNOWN = /org\.freedesktop\.DBus\.Error\.AccessDenied: Failed to set fd limit/

/** Before the services start. What the journal has outlives a reboot from then on. */
export async function makeSandboxStrict(machine: SystemdMachine): Promise<void> {
  const dropIns = SANDBOXED.map(
    (unit) => `
mkdir -p /etc/systemd/system/${unit}.d
printf '[Service]\\nSystemCallErrorNumber=kill\\n' >/etc/systemd/system/${unit}.d/strict.conf`,
  )
  await machine.output(`
mkdir -p /var/log/journal
systemctl restart systemd-journald
journalctl --flush
${dropIns.join('')}
systemctl daemon-reload`)
}

/** The lines of the journal that speak of something refused, whoever wrote them. */
export async function findDenials(machine: SystemdMachine): Promise<string[]> {
  const journal = await machine.output('journalctl --no-pager --output=short-monotonic')
  return journal.split('\n').filter((line) => DENIED.test(line) && !KNOWN.test(line))
}
