// The specification as data: its sentences by id and its tables by name.
export function readSpec(text) {
  const sentences = new Map();
  const tables = new Map();
  for (const doc of JSON.parse(text)) {
    for (const s of doc.sentences ?? []) sentences.set(s.id, { ...s, document: doc.document });
    for (const t of doc.tables ?? []) tables.set(t.name, { ...t, document: doc.document });
  }
  return { sentences, tables };
}
