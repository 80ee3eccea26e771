// Installs aiosmtpd, a mail server in Python by others than those whose library the hub mails with.

import { ensurePythonProgram, type PythonProgram } from './python-program.ts'

/** The Python that has it; undefined where it cannot be installed, which is an error under CI. */
export async function ensureAiosmtpd(): Promise<PythonProgram[0] | undefined> {
  const program = await ensurePythonProgram({
    name: 'aiosmtpd',
    version: '1.4.6',
    module: 'aiosmtpd',
  })
  return program?.[0]
}
