// A dashboard of Grafana held to Grafana's own types, by the compiler.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from '../../../tools/source-files.ts'

export interface Dashboard {
  readonly panels: readonly Panel[]
}

interface Panel {
  readonly type: string
  readonly options?: object
  readonly fieldConfig?: { readonly defaults?: { readonly custom?: object } }
}

const SCHEMA = '@grafana/schema/dist/esm/raw'
/** A type of panel as the schema has it; a stat has no fields of its own. */
const PANELS: Readonly<Record<string, { readonly module: string; readonly field: string }>> = {
  stat: { module: 'stat/panelcfg/x/StatPanelCfg_types.gen', field: 'Record<string, never>' },
  table: { module: 'table/panelcfg/x/TablePanelCfg_types.gen', field: 'Deep<table.FieldConfig>' },
  timeseries: {
    module: 'timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen',
    field: 'Deep<timeseries.FieldConfig>',
  },
}
const COMPILER = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--types', '']
const RESOLUTION = ['--module', 'nodenext', '--target', 'esnext']

/** What the compiler says of it, a line each; nothing when it is as Grafana wants it. */
export async function findDashboardFaults(dashboard: Dashboard): Promise<string[]> {
  const cache = join(ROOT, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  // Below node_modules, where the compiler finds the types.
  const directory = await mkdtemp(join(cache, 'dashboard-'))
  try {
    await writeFile(join(directory, 'dashboard.ts'), render(dashboard))
    const args = [...COMPILER, ...RESOLUTION, 'dashboard.ts']
    const { status, stdout, stderr } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), args, {
      cwd: directory,
      encoding: 'utf8',
    })
    if (status === 0) return []
    return `${stdout}${stderr}`.trimEnd().split('\n')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function render(dashboard: Dashboard): string {
  const imports = Object.entries(PANELS).map(
    ([type, { module }]) => `import type * as ${type} from '${SCHEMA}/composable/${module}'`,
  )
  return `\
import type { Dashboard } from '${SCHEMA}/dashboard/x/Dashboard_types.gen'
${imports.join('\n')}
// Grafana fills in what is left out.
type Deep<T> = T extends (infer E)[] ? Deep<E>[] : T extends object ? { [K in keyof T]?: Deep<T[K]> } : T
export const dashboard = ${JSON.stringify(dashboard, null, 1)} satisfies Deep<Dashboard>
${dashboard.panels.map(renderPanel).join('\n')}
`
}

/** The schema of a dashboard leaves open what depends on the type of a panel. */
function renderPanel({ type, options = {}, fieldConfig }: Panel, index: number): string {
  if (type === 'row') return ''
  const field = PANELS[type]?.field ?? 'never'
  const custom = fieldConfig?.defaults?.custom ?? {}
  return `\
export const options${index} = ${JSON.stringify(options)} satisfies Deep<${type}.Options>
export const field${index} = ${JSON.stringify(custom)} satisfies ${field}`
}
