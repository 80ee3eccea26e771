import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sayCommand } from './say-command.ts'

for (const [command, english] of [
  [
    'svc carga create --tipo selado --nome site --agente web-1.example.org',
    'svc load create --type sealed --name site --agent web-1.example.org',
  ],
  [
    'svc entrega list --status falhou --status revertida --carga carga --late',
    'svc delivery list --status failed --status reverted --load carga --late',
  ],
  [
    'svc evento list --tipo admin_refused --limit 20',
    'svc event list --type admin_refused --limit 20',
  ],
  ['svc politica set agente --no-cargas', 'svc policy set agente --no-loads'],
  [`svc agente list --where 'a in (b --nome c)'`, `svc agent list --where 'a in (b --nome c)'`],
  [`svc evento list --about 'x'\\''y --tipo z'`, `svc event list --about 'x'\\''y --tipo z'`],
  ['svc token create --role web', 'svc token create --role web'],
  ['svc-agent status', 'svc-agent status'],
  ['systemctl status svc-agent', 'systemctl status svc-agent'],
] as const) {
  test(`${command} is ${english}`, () => assert.equal(sayCommand(command), english))
}
