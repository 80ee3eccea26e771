// What a metrics port says, sample by sample.

export interface Sample {
  readonly name: string
  readonly labels: Record<string, string>
  readonly value: number
}

export async function scrape(url: string): Promise<Sample[]> {
  return parseSamples(await (await fetch(`${url}/metrics`)).text())
}

export function parseSamples(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const { name, labels, value } = /^(?<name>\w+)(?:\{(?<labels>.*)\})? (?<value>\S+)$/.exec(
        line,
      )?.groups ?? { name: line, labels: '', value: 'NaN' }
      const pairs = [...(labels ?? '').matchAll(/(\w+)="([^"]*)"/g)]
      return {
        name: name ?? '',
        labels: Object.fromEntries(pairs.map(([, label, content]) => [label, content])),
        value: Number(value),
      }
    })
}
