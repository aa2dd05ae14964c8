using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Text.RegularExpressions;

namespace Chunkwire.Tests
{
    /// <summary>What Unity asks of a folder to take it as a package.</summary>
    internal static class PackageTests
    {
        private static readonly string Folder =
            Path.GetFullPath(Path.Combine(Path.GetDirectoryName(Assembly.GetExecutingAssembly().Location), ".."));

        /// <summary>Without its .meta a file of a package is ignored; with another GUID references to it break.</summary>
        public static void EveryFileHasItsMeta()
        {
            var guids = new HashSet<string>();
            var entries = new List<string>();
            Visible(Folder, entries);
            Check.That(entries.Count > 20, "only " + entries.Count + " entries in " + Folder);
            foreach (string entry in entries)
            {
                Check.That(File.Exists(entry + ".meta"), entry + " has no .meta");
                Match guid = Regex.Match(File.ReadAllText(entry + ".meta"), "^guid: ([0-9a-f]{32})$", RegexOptions.Multiline);
                Check.That(guid.Success && guids.Add(guid.Groups[1].Value), entry + ".meta has no GUID of its own");
            }
            foreach (string meta in Directory.GetFiles(Folder, "*.meta", SearchOption.AllDirectories))
            {
                string entry = meta.Substring(0, meta.Length - ".meta".Length);
                Check.That(File.Exists(entry) || Directory.Exists(entry), meta + " is of nothing");
            }
        }

        public static void TheVersionIsTheSameEverywhere()
        {
            string version = Find("package.json", "\"version\": \"([^\"]+)\"");
            Check.Equal(version, Find("Chunkwire.csproj", "<Version>([^<]+)</Version>"), "Chunkwire.csproj");
            Check.Equal(version, Find("CHANGELOG.md", "(?m)^## (.+)$"), "CHANGELOG.md");
        }

        public static void TheSampleIsWhereThePackageSays()
        {
            string path = Find("package.json", "\"path\": \"([^\"]+)\"");
            Check.That(File.Exists(Path.Combine(Folder, path, "LoadingScreen.cs")), path);
        }

        /// <summary>What Unity looks at: not what begins with a dot or ends with a tilde.</summary>
        private static void Visible(string folder, List<string> entries)
        {
            foreach (string entry in Directory.GetFileSystemEntries(folder))
            {
                string name = Path.GetFileName(entry);
                if (name.StartsWith(".") || name.EndsWith("~") || name.EndsWith(".meta")) continue;
                entries.Add(entry);
                if (Directory.Exists(entry)) Visible(entry, entries);
            }
        }

        private static string Find(string file, string pattern)
        {
            Match match = Regex.Match(File.ReadAllText(Path.Combine(Folder, file)), pattern);
            Check.That(match.Success, file + " has no " + pattern);
            return match.Groups[1].Value;
        }
    }
}
