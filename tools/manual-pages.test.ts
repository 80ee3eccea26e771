// The manual pages say all that the programs take, and a formatter has nothing to complain about.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import type { Command } from 'commander'
import { AGENT_VARIABLES } from '../src/agent/settings/agent-variables.ts'
import { HUB_USAGE } from '../src/hub/help-text.ts'
import { HUB_VARIABLES } from '../src/hub/hub-variables.ts'
import { pathOfTool, TOOL_PATH, withTools } from '../test/support/tools.ts'
import { renderHelpText, renderManualPage, type ManualPage } from './release/manual-page.ts'
import { agentPage, agentProgram, serverPage, svcPage, svcProgram } from './release/manual-pages.ts'
import { definition, escapeRoff, paragraph } from './release/roff.ts'

const EDITION = { version: '1.2.3', releasedAt: new Date('2026-01-02T03:04:05Z') }
const PAGES = [serverPage(), svcPage(), agentPage()]

/** As a reader would see it, one paragraph a line, without fonts. */
function format(page: ManualPage): string {
  const { status, stdout, stderr } = spawnSync(
    pathOfTool('groff'),
    ['-man', '-Tutf8', '-ww', '-P-cbou', '-rLL=2000n'],
    { input: renderManualPage(page, EDITION), encoding: 'utf8', env: { PATH: TOOL_PATH } },
  )
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
  return stdout
}

function listCommands(command: Command, above = ''): { path: string; command: Command }[] {
  const path = `${above}${command.name()}`
  const below = command.commands.flatMap((child) => listCommands(child, `${path} `))
  return [{ path, command }, ...below]
}

/** The part of each command, by its path. */
function readSubsections(formatted: string): Map<string, string> {
  const [, commands = ''] = formatted.split(/^COMMANDS$/m)
  const [inside = ''] = commands.split(/^[A-Z]/m)
  const parts = inside.split(/^ {3}(?=\S)/m).slice(1)
  return new Map(parts.map((part) => [part.split('\n')[0] ?? '', part]))
}

describe('a manual page', () => {
  test('shows letters that a formatter would obey as they are', () => {
    assert.equal(escapeRoff(".TH's \\n-x"), '\\&.TH\\(aqs \\en\\-x')
    assert.equal(escapeRoff('“a” ’ … 1×'), '\\[u201C]a\\[u201D] \\(cq ... 1\\[u00D7]')
    assert.equal(paragraph("'so `a.b` it"), '.PP\n\\(aqso \\fBa.b\\fR it\n')
    assert.equal(
      definition('-o, --output <form>', '.5'),
      '.TP\n\\fB\\-o, \\-\\-output <\\fIform\\fB>\\fR\n\\&.5\n',
    )
  })

  test('joins the lines of a paragraph, and leaves those for a shell alone', () => {
    assert.equal(
      renderHelpText('\nOne\ntwo.\n\nExamples:\n  # a\n  a \\\n    --b\n\n  .b\n'),
      [
        '.PP\nOne two.\n',
        '.PP\nExamples:\n',
        '.PP\n.RS 4\n.EX\n# a\na \\e\n  \\-\\-b\n\n\\&.b\n.EE\n.RE\n',
      ].join(''),
    )
  })

  test('is the same each time', () => {
    assert.equal(renderManualPage(svcPage(), EDITION), renderManualPage(svcPage(), EDITION))
  })
})

describe('the manual pages', withTools('groff'), () => {
  for (const page of PAGES) {
    test(`groff formats ${page.name}(${page.section}), and has nothing to say`, () => {
      const formatted = format(page)
      assert.match(formatted, /^ +svc.* - \S.+\n\nSYNOPSIS$/m)
      assert.match(formatted, /Cartorio 1\.2\.3 +2026-01-02/)
    })
  }

  for (const [page, program, least] of [
    [svcPage(), svcProgram(), 45],
    [agentPage(), agentProgram(), 12],
  ] as const) {
    test(`${page.name}(1) has each command of the program, with each of its options`, () => {
      const formatted = format(page)
      const subsections = readSubsections(formatted)
      const all = listCommands(program)
      assert.ok(all.length >= least, `${all.length} commands`)
      for (const { path, command } of all) {
        const text = path === program.name() ? formatted : subsections.get(path)
        assert.ok(text !== undefined, path)
        for (const { flags } of command.options) assert.ok(text.includes(` ${flags}`), flags)
        for (const { description } of command.options) {
          assert.ok(text.includes(description.replace('…', '...')), `${path}: ${description}`)
        }
        for (const alias of command.aliases()) assert.match(text, new RegExp(`\\b${alias}\\b`))
        for (const argument of command.registeredArguments) {
          assert.ok(text.includes(` <${argument.name()}>`), `${path}: ${argument.name()}`)
        }
        assert.ok(text.includes(command.description().slice(1)), `${path}: its description`)
      }
      assert.match(formatted, /^EXAMPLES\n {11}\S/m)
    })
  }

  test('have every variable', () => {
    const [hub, agent] = [format(serverPage()), format(agentPage())]
    assert.ok(HUB_VARIABLES.length > 30)
    for (const { name } of HUB_VARIABLES) assert.match(hub, new RegExp(`^ +${name}\\b`, 'm'))
    for (const { name } of AGENT_VARIABLES) assert.match(agent, new RegExp(`^ +${name}\\b`, 'm'))
  })

  test('have every option of the hub', () => {
    const [, options = ''] = format(serverPage()).split(/^OPTIONS$/m)
    const flags = HUB_USAGE.match(/--[a-z]+/g) ?? []
    assert.deepEqual(flags, ['--config', '--standby', '--check', '--json', '--help', '--version'])
    for (const flag of flags) assert.match(options, new RegExp(`^ +(?:-[hV], )?${flag}\\b`, 'm'))
  })
})
