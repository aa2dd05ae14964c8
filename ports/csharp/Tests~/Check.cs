using System;
using System.Collections.Generic;
using System.Reflection;

namespace Chunkwire.Tests
{
    /// <summary>A test failed.</summary>
    internal sealed class Failure : Exception
    {
        public Failure(string message)
            : base(message)
        {
        }
    }

    /// <summary>What a test demands.</summary>
    internal static class Check
    {
        public static void That(bool ok, string what)
        {
            if (!ok) throw new Failure(what);
        }

        public static void Equal<T>(T want, T got, string what)
        {
            if (!EqualityComparer<T>.Default.Equals(want, got)) throw new Failure(what + ": got " + got + ", want " + want);
        }

        public static void Throws<T>(Action action, string what)
            where T : Exception
        {
            try
            {
                action();
            }
            catch (T)
            {
                return;
            }
            throw new Failure(what + ": no " + typeof(T).Name);
        }
    }

    /// <summary>Runs every method of a class of this assembly that is named …Tests; arguments are parts of names.</summary>
    internal static class Program
    {
        private static int Main(string[] arguments)
        {
            int failed = 0, run = 0;
            foreach (Type type in Assembly.GetExecutingAssembly().GetTypes())
            {
                if (!type.Name.EndsWith("Tests")) continue;
                foreach (MethodInfo method in type.GetMethods(BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly))
                {
                    string name = type.Name + "." + method.Name;
                    if (!IsChosen(name, arguments)) continue;
                    run++;
                    if (!Passes(name, method)) failed++;
                }
            }
            Console.WriteLine("{0} tests, {1} failed", run, failed);
            return failed == 0 && run > 0 ? 0 : 1;
        }

        private static bool IsChosen(string name, string[] parts)
        {
            return parts.Length == 0 || Array.Exists(parts, name.Contains);
        }

        private static bool Passes(string name, MethodInfo method)
        {
            try
            {
                method.Invoke(null, null);
                return true;
            }
            catch (TargetInvocationException e)
            {
                string message = e.InnerException is Failure ? e.InnerException.Message : e.InnerException.ToString();
                Console.WriteLine("{0}: {1}", name, message);
                return false;
            }
        }
    }
}
