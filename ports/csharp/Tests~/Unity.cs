using System;

// The few types of Unity that the sample uses, so that it compiles and runs without Unity.
namespace UnityEngine
{
    public class MonoBehaviour
    {
    }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class SerializeField : Attribute
    {
    }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class TooltipAttribute : Attribute
    {
        public TooltipAttribute(string text)
        {
            Text = text;
        }

        public string Text { get; private set; }
    }

    public static class Time
    {
        /// <summary>In Unity it only runs; here a test sets it.</summary>
        public static double realtimeSinceStartupAsDouble { get; set; }
    }
}

namespace UnityEngine.Events
{
    public class UnityEvent<T>
    {
        private Action<T> listeners;

        public void AddListener(Action<T> listener)
        {
            listeners += listener;
        }

        public void Invoke(T value)
        {
            if (listeners != null) listeners(value);
        }
    }
}
