// What svc does only for a person at a terminal: it asks for the passphrase, and says what it waits for.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { lockVault } from '../../src/hub/vault/vault.ts'
import { Secret } from '../../src/platform/secret.ts'
import { initCheapVault } from '../support/cheap-vault.ts'
import { createEntries, startFakeHub } from './fake-hub.ts'
import { findTerminalFault, runOnTerminal } from './terminal.ts'
import { runInShellHere } from './run-in-shell.ts'
import { withDirectory } from './with-directory.ts'

const skip = findTerminalFault()
const TYPED = 'a long pass wörd'
const ENTER = '\r'
const BACKSPACE = '\u007f'
const CONTROL_C = '\u0003'
const EMPTY_LINE = '\r\u001b[2K'

const inVault = (work: (env: { SVC_VAULT_ROOT: string }) => Promise<void>): Promise<void> =>
  withDirectory((directory) => work({ SVC_VAULT_ROOT: join(directory, 'vault') }))

describe('the passphrase prompt', { skip }, () => {
  test('asks twice for a new vault and once for an old one, and shows nothing of it', () =>
    inVault(async (env) => {
      const made = await runOnTerminal('svc init', env, [
        { awaits: 'new master passphrase: ', types: `${TYPED}x${BACKSPACE}${ENTER}` },
        { awaits: 'the same again: ', types: TYPED + ENTER },
      ])
      assert.equal(
        made.screen,
        `new master passphrase: \nthe same again: \nvault initialised at ${env.SVC_VAULT_ROOT}\n`,
      )
      assert.equal(made.exitStatus, 0)

      const checked = await runOnTerminal('svc unseal', env, [
        { awaits: 'master passphrase: ', types: TYPED + ENTER },
      ])
      assert.match(checked.screen, /^master passphrase: \nvault .*\npassphrase ok\ndatabase ok, /)
      assert.equal(checked.exitStatus, 0)

      const { stderr } = await runInShellHere('svc unseal', env)
      assert.match(stderr, /^svc: error: SVC_MASTER_PASSPHRASE required\n/)
    }))

  test('[KEY-2] asks for the old one and twice for a new one, and shows nothing of them', () =>
    inVault(async (env) => {
      await initCheapVault(env.SVC_VAULT_ROOT, new Secret(TYPED))
      const changed = await runOnTerminal('svc passphrase change', env, [
        { awaits: 'master passphrase: ', types: TYPED + ENTER },
        { awaits: 'new master passphrase: ', types: `${TYPED} more${ENTER}` },
        { awaits: 'the same again: ', types: `${TYPED} more${ENTER}` },
      ])
      assert.equal(
        changed.screen,
        'master passphrase: \nnew master passphrase: \nthe same again: \n' +
          `master passphrase of ${env.SVC_VAULT_ROOT} changed\n` +
          'the next start of the hub needs the new passphrase\n',
      )
      assert.equal(changed.exitStatus, 0)
    }))

  test('makes no vault when the two differ, or when nobody answers', () =>
    inVault(async (env) => {
      const differing = await runOnTerminal('svc init', env, [
        { awaits: 'new master passphrase: ', types: `one passphrase${ENTER}` },
        { awaits: 'the same again: ', types: `other passphrase${ENTER}` },
      ])
      assert.match(differing.screen, /\nsvc: error: the two passphrases differ\n/)
      assert.equal(differing.exitStatus, 1)

      const refused = await runOnTerminal('svc init', env, [
        { awaits: 'new master passphrase: ', types: CONTROL_C },
      ])
      assert.match(refused.screen, /\nsvc: error: no passphrase was given\n/)
      assert.equal(refused.exitStatus, 1)

      const asked = await runOnTerminal('svc token list', env)
      assert.equal(
        asked.screen,
        `svc: error: no vault at ${env.SVC_VAULT_ROOT} — run svc init first\n` +
          'svc: hint: SVC_VAULT_ROOT says where the vault is\n',
      )
    }))

  test('[CLI-14] asks nobody when stdin or stderr is no terminal', () =>
    inVault(async (env) => {
      for (const redirection of ['< /dev/null', '2> /dev/null']) {
        const { screen, exitStatus } = await runOnTerminal(`svc init ${redirection}`, env)
        assert.doesNotMatch(screen, /passphrase:/)
        assert.equal(exitStatus, 1)
      }
    }))

  test('[CLI-20] asks nobody beside a hub', () =>
    inVault(async (env) => {
      const hub = await startFakeHub(env.SVC_VAULT_ROOT, TYPED, createEntries(1))
      try {
        const { screen } = await runOnTerminal('svc agente list', env)
        assert.match(screen, /^HOSTNAME /)
      } finally {
        await hub.close()
      }
    }))
})

describe('the progress line', { skip }, () => {
  test('[CLI-18] says that svc waits for the vault, and goes away again', () =>
    inVault(async (env) => {
      const hub = await startFakeHub(env.SVC_VAULT_ROOT, TYPED, createEntries(1))
      await hub.close()
      const lock = lockVault(env.SVC_VAULT_ROOT)
      const release = (): string => {
        lock.release()
        return ''
      }
      const { screen } = await runOnTerminal(
        'svc agente list',
        { ...env, SVC_MASTER_PASSPHRASE: TYPED },
        [{ awaits: 'waiting', types: release }],
      )
      const line = `waiting for the program that holds the vault at ${env.SVC_VAULT_ROOT}`
      assert.ok(screen.startsWith(`${EMPTY_LINE}${line}${EMPTY_LINE}`), screen)
      assert.ok(screen.includes(`${EMPTY_LINE}HOSTNAME `), screen)
    }))
})
